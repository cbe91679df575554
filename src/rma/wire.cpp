// SPDX-License-Identifier: BSD-3-Clause
#include "rma/wire.h"

#include <algorithm>
#include <cstring>

namespace nearcache::rma {
namespace {

// far more than a batch holds; keeps sums from overflowing
constexpr uint64_t most_data = uint64_t{1} << 32;

}  // namespace

bool is_sound(const Head& head) {
  return static_cast<int>(head.kind) < kind_count &&
         static_cast<int>(head.element) < element_count &&
         static_cast<int>(head.operation) < operation_count &&
         static_cast<int>(head.status) < status_count && head.length <= most_data &&
         (head.kind != Kind::puts || (head.length > 0 && head.length <= most_of_few &&
                                      head.offset <= most_data && head.pieces == 0));
}

uint64_t data_bytes(const Head& head) {
  switch (head.kind) {
    case Kind::put:
    case Kind::accumulate:
      return head.length;
    case Kind::puts:
      return head.offset * bytes_of_few(head.length);
    case Kind::fetch:
      return head.operation == Operation::no_op ? 0 : head.length;
    case Kind::compare_and_swap:
      return 2 * head.length;
    case Kind::data:
      return head.status == Status::ok ? head.length : 0;
    case Kind::unsure_data:
      return (head.length + 7) / 8 * 8 + sizeof(uint64_t);
    default:
      return 0;
  }
}

BatchReader::BatchReader(std::span<const std::byte> batch) : rest_(batch) {
  if (reinterpret_cast<uintptr_t>(batch.data()) % 8 == 0) return;
  copy_.resize((batch.size() + 7) / 8);
  std::memcpy(copy_.data(), batch.data(), batch.size());
  rest_ = {reinterpret_cast<const std::byte*>(copy_.data()), batch.size()};
}

bool BatchReader::next(Message* message) {
  if (rest_.empty()) return false;
  malformed_ = true;
  Head& head = message->head;
  if (rest_.size() < sizeof head) return false;
  std::memcpy(static_cast<void*>(&head), rest_.data(), sizeof head);
  if (!is_sound(head)) return false;
  const uint64_t pieces = uint64_t{head.pieces} * sizeof(Piece), data = data_bytes(head);
  const uint64_t size = sizeof head + pieces + (data + 7) / 8 * 8;
  if (size > rest_.size()) return false;
  message->pieces = {reinterpret_cast<const Piece*>(rest_.data() + sizeof head), head.pieces};
  message->data = rest_.subspan(sizeof head + pieces, data);
  message->whole = rest_.first(size);
  rest_ = rest_.subspan(size);
  malformed_ = false;
  return true;
}

uint64_t* BatchWriter::room(size_t words) {
  if (used_ + words > words_.size()) words_.resize(std::max(used_ + words, 2 * words_.size()));
  uint64_t* at = words_.data() + used_;
  used_ += words;
  return at;
}

void BatchWriter::append_head(const Head& head, std::span<const Piece> pieces) {
  uint64_t* const at = room(sizeof head / 8 + 2 * pieces.size());
  std::memcpy(at, &head, sizeof head);
  if (!pieces.empty()) std::memcpy(at + sizeof head / 8, pieces.data(), pieces.size_bytes());
}

std::byte* BatchWriter::append(const Head& head, std::span<const Piece> pieces) {
  append_head(head, pieces);
  const size_t data = (data_bytes(head) + 7) / 8;
  uint64_t* const at = room(data);
  if (data > 0) at[data - 1] = 0;  // the padding
  return reinterpret_cast<std::byte*>(at);
}

std::byte* BatchWriter::append_few(uint64_t window, bool odd_epoch, int64_t displacement,
                                   uint64_t length) {
  if (used_ != few_end_ || few_.window != window || few_.length != length ||
      few_.odd_epoch != odd_epoch) {
    few_.window = window, few_.length = length, few_.odd_epoch = odd_epoch, few_.offset = 0;
    few_at_ = used_;
    room(sizeof few_ / 8);
  }
  ++few_.offset;
  uint64_t* const at = room(bytes_of_few(length) / 8);
  few_end_ = used_;
  std::memcpy(&words_[few_at_], &few_, sizeof few_);
  std::memcpy(at, &displacement, sizeof displacement);
  words_[used_ - 1] = 0;  // the padding
  return reinterpret_cast<std::byte*>(at + 1);
}

void BatchWriter::append_whole(std::span<const std::byte> message) {
  std::memcpy(room(message.size() / 8), message.data(), message.size());
}

void BatchWriter::remove(size_t bytes) {
  const size_t words = bytes / 8;
  std::copy(words_.data() + words, words_.data() + used_, words_.data());
  used_ -= words;
  few_end_ = none;
}

}  // namespace nearcache::rma
