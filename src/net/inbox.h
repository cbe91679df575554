// Where a rank gets batches from others of its node, in memory that they share: a ring for each of
// them, whether somebody looks at these, and who has ever written.
//
// A ring is made of lines of the processor's caches. A record is one or more lines: a word that
// says how many bytes follow, and whether the batch goes on in the next record, and these bytes.
// The word is written last, and the reader makes the first word of each line zero again before it
// gives the lines back: so it looks at one word, which comes in the line with the first bytes, and
// a writer that dies leaves nothing half written to be read. Both ends count lines for themselves;
// what they tell each other of that is checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nearcache::net {

// One writer, one reader. In memory of zeros it is empty.
struct SharedRing {
  static constexpr uint64_t line = 64, lines = 512;
  // of a record: so the reader copies one while the next is written
  static constexpr uint64_t most_bytes = (8 << 10) - sizeof(uint64_t);
  static constexpr uint64_t goes_on = uint64_t{1} << 32;  // the batch, in the next record

  alignas(line) std::atomic<uint64_t> read;  // lines, by the reader
  std::atomic<uint32_t> wants_room;          // the writer waits for that
  alignas(line) std::byte memory[line * lines];

  static constexpr uint64_t lines_of(uint64_t bytes) {
    return (sizeof(uint64_t) + bytes + line - 1) / line;
  }
  std::atomic_ref<uint64_t> word(uint64_t at) {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(memory + at % lines * line));
  }
  // A record that begins at this line, of two pieces of memory.
  void write(uint64_t at, std::span<const std::byte> first, std::span<const std::byte> second,
             bool more);
  // Its bytes, as many as its word says; then its lines are as they were before.
  void take(uint64_t at, uint64_t bytes, std::byte* to);

 private:
  void copy_in(uint64_t place, std::span<const std::byte> bytes);
};

// In memory of zeros, `bytes` of it.
struct Inbox {
  // What its owner does: nobody need be woken; it looked a moment ago, and may do so again at once;
  // it sleeps, or computes.
  enum class Watch : uint32_t { looks, dozes, sleeps };

  alignas(64) std::atomic<Watch> watch;
  alignas(64) std::atomic<uint32_t> writers;  // how many there are, increased last

  std::atomic<uint32_t>& writes(size_t place) {
    return reinterpret_cast<std::atomic<uint32_t>*>(this + 1)[place];
  }
  SharedRing& ring(size_t place, size_t ranks) {
    return reinterpret_cast<SharedRing*>(reinterpret_cast<std::byte*>(this) +
                                         head_bytes(ranks))[place];
  }
  // Memory that nobody touches costs nothing.
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
