// SPDX-License-Identifier: BSD-3-Clause

// The shared memory in which a rank receives batches from others of its node: a ring for each of
// them, whether the owner is polling, and which ranks have ever written.
//
// A ring consists of cache lines. A record occupies one or more lines: a word with the number of
// bytes that follow and whether the batch continues in the next record, then these bytes. The word
// is written last, and the reader zeroes the first word of each line before it gives the lines
// back. So the reader polls a single word, which shares a cache line with the first bytes, and a
// writer that dies leaves no partial record to be read. Each end counts lines for itself; what it
// learns from the other is checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nearcache::net {

// One writer, one reader. Zeroed memory is an empty ring.
struct SharedRing {
  static constexpr uint64_t line = 64, lines = 512;
  // of a record: small enough that the reader copies one while the next is written
  static constexpr uint64_t most_bytes = (8 << 10) - sizeof(uint64_t);
  static constexpr uint64_t goes_on = uint64_t{1} << 32;  // the batch continues in the next record

  alignas(line) std::atomic<uint64_t> read;  // lines given back, by the reader
  std::atomic<uint32_t> wants_room;          // set by a writer that waits for room
  alignas(line) std::byte memory[line * lines];

  static constexpr uint64_t lines_of(uint64_t bytes) {
    return (sizeof(uint64_t) + bytes + line - 1) / line;
  }
  std::atomic_ref<uint64_t> word(uint64_t at) {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(memory + at % lines * line));
  }
  // Writes a record made of two pieces of memory, beginning at line `at`. `more`: the batch
  // continues.
  void write(uint64_t at, std::span<const std::byte> first, std::span<const std::byte> second,
             bool more);
  // Copies a record of `bytes` bytes out of the ring and zeroes the first word of each of its
  // lines.
  void take(uint64_t at, uint64_t bytes, std::byte* to);

 private:
  void copy_in(uint64_t place, std::span<const std::byte> bytes);
};

// Occupies bytes() of memory, which is initially zeroed.
struct Inbox {
  // What the owner is doing. looks: it polls, and need not be woken. dozes: it polled a moment ago,
  // and may do so again at once. sleeps: it sleeps or computes.
  enum class Watch : uint32_t { looks, dozes, sleeps };

  alignas(64) std::atomic<Watch> watch;
  alignas(64) std::atomic<uint32_t> writers;  // number of writers; incremented after writes()

  std::atomic<uint32_t>& writes(size_t place) {
    return reinterpret_cast<std::atomic<uint32_t>*>(this + 1)[place];
  }
  SharedRing& ring(size_t place, size_t ranks) {
    return reinterpret_cast<SharedRing*>(reinterpret_cast<std::byte*>(this) +
                                         head_bytes(ranks))[place];
  }
  // Untouched memory costs nothing.
  static constexpr uint64_t bytes(size_t ranks) {
    return head_bytes(ranks) + ranks * sizeof(SharedRing);
  }

 private:
  static constexpr uint64_t head_bytes(size_t ranks) {
    const uint64_t all = sizeof(Inbox) + ranks * sizeof(std::atomic<uint32_t>);
    return (all + 63) / 64 * 64;
  }
};

}  // namespace nearcache::net
