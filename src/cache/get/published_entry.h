// What readers without the engine's lock may know of a cached entry: where its bytes lie, and whose
// they are. It works like a sequence lock: the sequence is odd while the rest is valid; a reader
// that has copied the bytes checks that the sequence is still the same.
//
//   writer, with the lock                    reader, without
//     retire: sequence even                    sequence odd?
//     bytes_follow()                           what it says, and is the sequence the same?
//     bytes, what it says                      load_bytes
//     publish: sequence odd                    is the sequence the same?
//
// All zero is an entry that was never published.
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/get/entry.h"
#include "cache/page/published.h"

namespace nearcache {

class alignas(64) PublishedEntry {
 public:
  struct Said {
    Key key;
    uint64_t stamp;  // the clock when its get was issued
    uint32_t place;  // granules from the shard's begin
    uint32_t size;   // bytes
    uint32_t rank;   // who fetched it, of those who share
  };

  // --- With the lock. ---

  bool is_published() const { return sequence_.load(std::memory_order_relaxed) % 2 != 0; }
  // Before its storage is another's, or is written to.
  void retire() {
    if (!is_published()) return;
    step(std::memory_order_relaxed);
    bytes_follow();
  }
  // Its bytes are there.
  void publish(const Said& said) {
    displacement_.store(said.key.displacement, relaxed);
    target_.store(said.key.target, relaxed);
    layout_.store(said.key.layout, relaxed);
    stamp_.store(said.stamp, relaxed);
    place_.store(said.place, relaxed);
    size_.store(said.size, relaxed);
    rank_.store(said.rank, relaxed);
    step(std::memory_order_release);
  }
  uint64_t stamp() const { return stamp_.load(relaxed); }

  // --- Without. ---

  // False: nothing is published, or it is another entry by now.
  [[gnu::always_inline]] bool read(Said* said, uint64_t* sequence) const {
    *sequence = sequence_.load(std::memory_order_acquire);
    said->key.displacement = displacement_.load(read_order);
    said->key.target = target_.load(read_order);
    said->key.layout = layout_.load(read_order);
    said->stamp = stamp_.load(read_order);
    said->place = place_.load(read_order);
    said->size = size_.load(read_order);
    said->rank = rank_.load(read_order);
    return *sequence % 2 != 0 && is_still(*sequence);
  }
  // After what was said, or bytes that were read by load_bytes.
  [[gnu::always_inline]] bool is_still(uint64_t sequence) const {
    std::atomic_signal_fence(std::memory_order_acq_rel);
    return sequence_.load(std::memory_order_relaxed) == sequence;
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  // so that the last look at the sequence comes after
  static constexpr auto read_order = std::memory_order_acquire;
  void step(std::memory_order order) {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, order);
  }

  std::atomic<uint64_t> sequence_, stamp_;
  std::atomic<int64_t> displacement_;
  std::atomic<uint32_t> target_, layout_, place_, size_, rank_;
};
static_assert(sizeof(PublishedEntry) == 64 && std::atomic<uint64_t>::is_always_lock_free);

}  // namespace nearcache
