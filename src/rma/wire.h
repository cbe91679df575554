// SPDX-License-Identifier: BSD-3-Clause

// The format of a batch: consecutive messages, each a header, the pieces of memory or the counts
// that belong to it, and data; padded to 8 bytes.
//
// Both ends have the same word size and byte order (net/handshake.h). What is read was written by
// another process and is not trusted: `BatchReader` checks that headers, pieces and data lie within
// the batch and that enum values exist; `Exposure` checks what they request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rma/elements.h"
#include "rma/status.h"

namespace nearcache::rma {

enum class Kind : uint8_t {
  // Requests: executed in order for each origin and window.
  put,
  puts,
  get,
  accumulate,
  fetch,
  compare_and_swap,
  lock_shared,
  lock_exclusive,
  unlock,
  acknowledge,
  start,  // what follows belongs to an access epoch, and waits for the target's post
  complete,
  tell_layout,
  take_back_layout,
  locate,  // asks for the key of the memory (net/direct_memory.h)
  // Tokens: taken when they arrive.
  post,  // for origins that share a node with the target
  fence,
  broken,  // a member is gone, its rank is the displacement: no fence of the window ends any more
  lock_freed,  // a lock was released by its word, and somebody is in its queue
  // Replies.
  data,
  unsure_data,  // data, then a word with the status, because memory may have been missing
  acknowledged,
  failed,
  located  // two pieces: key and address, unit and size; none: not accessible
};
inline constexpr int kind_count = 24;
inline bool is_operation(Kind kind) { return kind <= Kind::compare_and_swap; }
inline bool is_data(Kind kind) { return kind == Kind::data || kind == Kind::unsure_data; }
inline bool is_token(Kind kind) { return kind >= Kind::post && kind <= Kind::lock_freed; }

struct Head {
  Kind kind;
  Element element = Element::bytes;
  Operation operation = Operation::replace;
  Status status = Status::ok;
  uint32_t odd_epoch : 1 = 0;  // of an operation: its origin had entered an odd number of fences
  // of an operation: one piece follows, with the number of a layout (layouts.h) and how many bytes
  // of the packed data come before
  uint32_t by_layout : 1 = 0;
  // how many follow; if none, the memory is one run of `length` bytes at `offset`
  uint32_t pieces : 30 = 0;
  uint64_t window = 0;
  int64_t displacement = 0;  // in the target's units. fence: the round
  // bytes beyond the displacement. tell_layout: the extent. puts: how many puts
  uint64_t offset = 0;
  // bytes of memory; puts: of each. Replies with data: bytes that follow. tell_layout: number of
  // blocks
  uint64_t length = 0;
  // identifies the operation in replies. put, accumulate: 0, or the reply that it asks for. fence:
  // which fence. Layouts: the number. lock_shared: 1 if it overtakes (lock_queue.h)
  uint64_t token = 0;

  // At most 1,024 in an operation or layout, and one for each rank in a fence: never near 2^30.
  void has_pieces(size_t count) { pieces = static_cast<uint32_t>(count) & ((1U << 30) - 1); }
};
static_assert(sizeof(Head) == 48);

// A run of bytes relative to the displacement. In a fence: the number of operations (`length`) sent
// to rank `offset`.
struct Piece {
  int64_t offset;
  uint64_t length;
  bool operator==(const Piece&) const = default;
};

// Consecutive small puts of the same length share one head (`puts`): the data is, for each of them,
// the displacement and the bytes, padded to 8.
inline constexpr uint64_t most_of_few = 64;
inline uint64_t bytes_of_few(uint64_t length) { return sizeof(int64_t) + (length + 7) / 8 * 8; }

// Messages with at least this many bytes of data are sent from where the data is, and received
// where it belongs: copying would take longer than beginning a new batch.
inline constexpr uint64_t many_bytes = 8 << 10;

// A rank that follows the protocol never sends more than this to a window before something is
// answered (Window::most_outstanding, and the heads of messages that need no answer).
inline constexpr size_t most_held = 16 << 20;

// Whether all enum values exist and lengths are valid.
bool is_sound(const Head& head);
// Bytes of data that belong to a message with this head, which must be sound.
uint64_t data_bytes(const Head& head);

struct Message {
  Head head;
  std::span<const Piece> pieces;
  std::span<const std::byte> data;
  std::span<const std::byte> whole;  // the whole message, as it was sent
};

// Reads the messages of a batch, which it copies if it is not aligned to 8 bytes.
class BatchReader {
 public:
  explicit BatchReader(std::span<const std::byte> batch);
  // Returns false at the end, or if what follows is not a valid message.
  bool next(Message* message);
  bool malformed() const { return malformed_; }

 private:
  std::vector<uint64_t> copy_;
  std::span<const std::byte> rest_;
  bool malformed_ = false;
};

class BatchWriter {
 public:
  bool empty() const { return used_ == 0; }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(words_.data()), used_ * 8};
  }
  void clear() { used_ = 0, few_end_ = none; }

  // Returns where the message's data goes: data_bytes(head) bytes, valid until the next message.
  std::byte* append(const Head& head, std::span<const Piece> pieces = {});
  // Appends the last message of the batch, without padding; its data is elsewhere.
  void append_head(const Head& head, std::span<const Piece> pieces = {});
  // Appends a put of at most most_of_few bytes (Kind::puts). Writes the displacement, and returns
  // where the data goes.
  std::byte* append_few(uint64_t window, bool odd_epoch, int64_t displacement, uint64_t length);
  void append_whole(std::span<const std::byte> message);
  // Removes the first messages, of so many bytes.
  void remove(size_t bytes);

 private:
  static constexpr size_t none = SIZE_MAX;

  uint64_t* room(size_t words);

  std::vector<uint64_t> words_;
  size_t used_ = 0;
  // Beginning and end of the last `puts`, in words.
  size_t few_at_ = 0, few_end_ = none;
  Head few_{.kind = Kind::puts};
};

}  // namespace nearcache::rma
