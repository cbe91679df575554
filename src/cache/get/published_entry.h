// SPDX-License-Identifier: BSD-3-Clause

// What readers without the engine's lock may know of a cached entry: the place of its bytes, and
// its key. Works like a sequence lock: the sequence is odd while the other fields are valid. A
// reader that has copied the bytes checks that the sequence is still the same.
//
//   writer, with the lock                    reader, without
//     retire: make the sequence even           sequence odd?
//     bytes_follow()                           read the fields; sequence unchanged?
//     write bytes and fields                   load_bytes()
//     publish: make the sequence odd           sequence unchanged?
//
// All zero is an entry that was never published.
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/get/entry.h"
#include "cache/published.h"

namespace nearcache {

class alignas(64) PublishedEntry {
 public:
  struct Said {
    Key key;
    uint64_t stamp;  // the clock when its get was issued
    uint32_t place;  // in granules from the beginning of the shard
    uint32_t size;   // bytes
    uint32_t rank;   // the rank that fetched it, among those that share
  };

  // --- With the lock held. ---

  bool is_published() const { return sequence_.load(std::memory_order_relaxed) % 2 != 0; }
  // Call this before its storage is written to or given to another entry.
  void retire() {
    if (!is_published()) return;
    step(std::memory_order_relaxed);
    bytes_follow();
  }
  // Call this when its bytes have been stored.
  void publish(const Said& said) {
    displacement_.store(said.key.displacement, relaxed);
    what_.store(pair(said.key.target, said.key.layout), relaxed);
    stamp_.store(said.stamp, relaxed);
    where_.store(pair(said.place, said.size), relaxed);
    rank_.store(said.rank, relaxed);
    step(std::memory_order_release);
  }
  uint64_t stamp() const { return stamp_.load(relaxed); }

  // --- Without the lock. ---

  // Returns false if nothing is published, or the entry has been replaced.
  [[gnu::always_inline]] bool read(Said* said, uint64_t* sequence) const {
    *sequence = sequence_.load(std::memory_order_acquire);
    said->key.displacement = displacement_.load(read_order);
    const uint64_t what = what_.load(read_order);
    said->key.target = low(what), said->key.layout = high(what);
    said->stamp = stamp_.load(read_order);
    const uint64_t where = where_.load(read_order);
    said->place = low(where), said->size = high(where);
    said->rank = rank_.load(read_order);
    return *sequence % 2 != 0 && is_still(*sequence);
  }
  // Call this after the fields have been read, or bytes by load_bytes(). Returns false if the entry
  // has changed.
  [[gnu::always_inline]] bool is_still(uint64_t sequence) const {
    std::atomic_signal_fence(std::memory_order_acq_rel);
    return sequence_.load(std::memory_order_relaxed) == sequence;
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  // acquire, so that the last check of the sequence comes after these loads
  static constexpr auto read_order = std::memory_order_acquire;
  static constexpr uint64_t pair(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }
  static constexpr uint32_t low(uint64_t pair) { return static_cast<uint32_t>(pair); }
  static constexpr uint32_t high(uint64_t pair) { return static_cast<uint32_t>(pair >> 32); }
  void step(std::memory_order order) {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, order);
  }

  std::atomic<uint64_t> sequence_, stamp_;
  std::atomic<int64_t> displacement_;
  std::atomic<uint64_t> what_;   // target, layout
  std::atomic<uint64_t> where_;  // place, size
  std::atomic<uint32_t> rank_;
};
static_assert(sizeof(PublishedEntry) == 64 && std::atomic<uint64_t>::is_always_lock_free);

}  // namespace nearcache
