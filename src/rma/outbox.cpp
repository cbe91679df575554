// SPDX-License-Identifier: BSD-3-Clause
#include "rma/outbox.h"

#include <cstring>
#include <utility>

namespace nearcache::rma {

BatchWriter& Outbox::batch_for(int peer) {
  if (peer == recent_peer_) return *recent_;
  recent_peer_ = peer;
  return *(recent_ = &batches_[peer]);
}

BatchWriter& Outbox::batch_with_room(int peer) {
  BatchWriter& batch = batch_for(peer);
  if (batch.bytes().size() >= enough) push(peer);
  return batch;
}

// Only the data of a batch's first message can be received in place.
BatchWriter& Outbox::batch_before(int peer, size_t data) {
  if (data >= 2 * many_bytes) push(peer);
  return batch_with_room(peer);
}

BatchWriter& Outbox::batch_to_fill(int peer) {
  BatchWriter& batch = batch_with_room(peer);
  if (batch.empty() && peer != fabric_->rank()) {
    filled_.push_back(peer);
    holds_.store(true, std::memory_order_relaxed);
    if (mark_ != nullptr) mark_->store(true, std::memory_order_relaxed);
  }
  return batch;
}

std::byte* Outbox::append(int peer, const Head& head, std::span<const Piece> pieces) {
  return batch_to_fill(peer).append(head, pieces);
}

void Outbox::append(int peer, const Head& head, std::span<const Piece> pieces,
                    std::span<const std::byte> data) {
  if (data.size() < many_bytes || data.size() % sizeof(uint64_t) != 0 || peer == fabric_->rank()) {
    std::byte* const at = append(peer, head, pieces);
    if (!data.empty()) std::memcpy(at, data.data(), data.size());
    return;
  }
  BatchWriter& batch = batch_before(peer, data.size());
  batch.append_head(head, pieces);
  fabric_->send(peer, batch.bytes(), data);
  batch.clear();
}

bool Outbox::append_unsure(int peer, const Head& head, std::span<const std::byte> data) {
  if (data.size() % sizeof(uint64_t) != 0 || peer == fabric_->rank() ||
      !fabric_->sends_unsure(peer))
    return false;
  BatchWriter& batch = batch_before(peer, data.size());
  batch.append_head(head);
  fabric_->send_unsure(
      peer, batch.bytes(), data,
      {static_cast<uint64_t>(Status::ok), static_cast<uint64_t>(Status::out_of_range)});
  batch.clear();
  return true;
}

std::byte* Outbox::append_few(int peer, uint64_t window, bool odd_epoch, int64_t displacement,
                              uint64_t length) {
  return batch_to_fill(peer).append_few(window, odd_epoch, displacement, length);
}

void Outbox::push(int peer) {
  const auto found = batches_.find(peer);
  if (peer == fabric_->rank() || found == batches_.end() || found->second.empty()) return;
  fabric_->send(peer, found->second.bytes());
  found->second.clear();
}

void Outbox::push_all() {
  if (!holds()) return;
  for (const int peer : filled_) push(peer);
  filled_.clear();
  holds_.store(false, std::memory_order_relaxed);
}

bool Outbox::take_own(BatchWriter* batch) {
  if (own_->empty()) return false;
  batch->clear();
  std::swap(*own_, *batch);
  return true;
}

}  // namespace nearcache::rma
