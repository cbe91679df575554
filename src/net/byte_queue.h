// SPDX-License-Identifier: BSD-3-Clause

// A queue of bytes in one contiguous buffer: written at one end, read at the other.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace nearcache::net {

class ByteQueue {
 public:
  bool empty() const { return begin_ == end_; }
  std::span<const std::byte> bytes() const { return {memory_.get() + begin_, end_ - begin_}; }

  void append(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
    end_ += bytes.size();
  }
  void consume(size_t count) {
    begin_ += count;
    if (begin_ != end_) return;
    begin_ = end_ = 0;
    if (size_ > kept) memory_.reset(), size_ = 0;
  }

  // Returns room for at least `least` bytes after the queued ones, for the caller to write to. The
  // caller then adds what it has written by filled().
  std::span<std::byte> room(size_t least) {
    if (size_ - end_ < least) make_room(least);
    return {memory_.get() + end_, size_ - end_};
  }
  void filled(size_t count) { end_ += count; }

 private:
  static constexpr size_t kept = 256 << 10;  // an empty queue keeps at most this much memory

  void make_room(size_t least) {
    const size_t here = end_ - begin_;
    if (2 * (here + least) <= size_) {
      std::memmove(memory_.get(), memory_.get() + begin_, here);
    } else {
      const size_t size = 2 * (here + least);
      std::unique_ptr<std::byte[]> larger(new std::byte[size]);
      if (here > 0) std::memcpy(larger.get(), memory_.get() + begin_, here);
      memory_ = std::move(larger);
      size_ = size;
    }
    begin_ = 0;
    end_ = here;
  }

  std::unique_ptr<std::byte[]> memory_;
  size_t size_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace nearcache::net
