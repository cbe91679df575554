// What is in a batch: consecutive messages, each a header, the pieces of memory or the counts that
// belong to it, and data; padded to 8 bytes.
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
  // Requests, executed in order for each origin and window.
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
  complete,
  tell_layout,
  take_back_layout,
  locate,  // asks for the key of the memory (net/direct_memory.h)
  // Tokens, taken when they arrive.
  post,
  fence,
  lock_freed,  // by its word, and somebody is in the queue
  // Replies.
  data,
  unsure_data,  // data, and a word behind them: the status, as the memory may not have been there
  acknowledged,
  failed,
  located  // two pieces: key and address, unit and size; none: it is out of reach
};
inline constexpr int kind_count = 22;
inline bool is_operation(Kind kind) { return kind <= Kind::compare_and_swap; }
inline bool is_data(Kind kind) { return kind == Kind::data || kind == Kind::unsure_data; }
inline bool is_token(Kind kind) { return kind >= Kind::post && kind <= Kind::lock_freed; }

struct Head {
  Kind kind;
  Element element = Element::bytes;
  Operation operation = Operation::replace;
  Status status = Status::ok;
  uint32_t odd_epoch : 1 = 0;  // of an operation: how many fences its origin had entered (fence.h)
  // of an operation: one piece follows, the number of a layout (layouts.h) and how much of the
  // packed data comes before
  uint32_t by_layout : 1 = 0;
  // that follow; without, the memory is one run of `length` bytes from `offset` on
  uint32_t pieces : 30 = 0;
  uint64_t window = 0;
  int64_t displacement = 0;  // in the target's units. fence: the round
  // bytes beyond the displacement. tell_layout: the extent. puts: how many there are
  uint64_t offset = 0;
  // bytes of memory that are concerned; puts: of each. Of data: bytes that follow. tell_layout: how
  // many blocks there are
  uint64_t length = 0;
  // names the operation in replies. fence: which fence. Of a layout: its number
  uint64_t token = 0;

  // 1,024 of an operation or a layout and one for each rank in a fence: never near 2^30.
  void has_pieces(size_t count) { pieces = static_cast<uint32_t>(count) & ((1U << 30) - 1); }
};
static_assert(sizeof(Head) == 48);

// A run of bytes relative to the displacement; in a fence, how many operations (`length`) went to
// rank `offset`.
struct Piece {
  int64_t offset;
  uint64_t length;
  bool operator==(const Piece&) const = default;
};

// Puts of few bytes that follow each other, as many in each, have one head (`puts`): the data are a
// displacement and the bytes of each, padded to 8.
inline constexpr uint64_t most_of_few = 64;
inline uint64_t bytes_of_few(uint64_t length) { return sizeof(int64_t) + (length + 7) / 8 * 8; }

// So many bytes of one message go from where they are to where they belong: to copy them takes
// longer than to begin a batch.
inline constexpr uint64_t many_bytes = 8 << 10;

// More than this, a rank that follows the protocol has never sent of a window before something was
// answered (Window::most_outstanding, and the heads of what needs no answer).
inline constexpr size_t most_held = 16 << 20;

// The numbers in it exist.
bool is_sound(const Head& head);
// Bytes of data that belong to a message of this head, if it is sound.
uint64_t data_bytes(const Head& head);

struct Message {
  Head head;
  std::span<const Piece> pieces;
  std::span<const std::byte> data;
  std::span<const std::byte> whole;  // all of it, as it was sent
};

// The batch must be aligned to 8 bytes, or is copied.
class BatchReader {
 public:
  explicit BatchReader(std::span<const std::byte> batch);
  // False at the end, and where what follows is no message.
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

  // Returns where its data go: data_bytes(head) bytes, good until the next message.
  std::byte* append(const Head& head, std::span<const Piece> pieces = {});
  // The last message, whose data are elsewhere, without padding.
  void append_head(const Head& head, std::span<const Piece> pieces = {});
  // One of `puts`, of at most most_of_few bytes: returns where they go. The displacement is
  // written.
  std::byte* append_few(uint64_t window, bool odd_epoch, int64_t displacement, uint64_t length);
  void append_whole(std::span<const std::byte> message);
  // The same of what a peer sent too early, false if it would be too much.
  bool hold(std::span<const std::byte> message);

 private:
  static constexpr size_t none = SIZE_MAX;

  uint64_t* room(size_t words);

  std::vector<uint64_t> words_;
  size_t used_ = 0;
  // The last `puts`: where it is and ends, as words.
  size_t few_at_ = 0, few_end_ = none;
  Head few_{.kind = Kind::puts};
};

}  // namespace nearcache::rma
