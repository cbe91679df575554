// SPDX-License-Identifier: BSD-3-Clause

// Counts gets that fetch what this rank has fetched before an acquire, and that has not changed in
// between: a cache that keeps data across acquires (mode coherent) would have answered those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "cache/get/entry.h"

namespace nearcache {

class Repeats {
 public:
  static constexpr uint64_t compared = 64;  // bytes of a get

  // A get has arrived. `acquires`: how many there have been (Acquires::certain).
  void arrived(const Key& key, const std::byte* data, uint64_t bytes, uint32_t acquires) {
    const uint64_t hash = hash_key(key);
    const Seen seen{static_cast<uint32_t>(hash >> 32), acquires, digest(data, bytes)};
    count_ += is_repeat(&seen_[hash % slots], seen);
    if (hash >> 60 == 0) count_ += 16 * is_repeat(&seen_[slots + hash % slots], seen);
  }
  uint32_t count() const { return count_; }
  void forget() { *this = Repeats(); }

 private:
  struct Seen {
    uint32_t name = 0, acquires = 0, digest = 0;
  };

  static uint32_t is_repeat(Seen* slot, const Seen& now) {
    const bool repeat = slot->name == now.name && slot->acquires != now.acquires &&
                        slot->digest == now.digest && slot->acquires != 0;
    *slot = now;
    return repeat ? 1 : 0;
  }
  // Both ends stand for the whole.
  static uint32_t digest(const std::byte* data, uint64_t bytes) {
    const auto of = [](const std::byte* from, uint64_t count) {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(from), count});
    };
    if (bytes <= compared) return static_cast<uint32_t>(of(data, bytes));
    constexpr uint64_t half = compared / 2;
    return static_cast<uint32_t>(of(data, half) + 3 * of(data + (bytes - half), half));
  }

  // Half of the slots are for all gets, the other half for one in 16, which finds repeats that are
  // further apart.
  static constexpr size_t slots = 512;
  std::array<Seen, 2 * slots> seen_{};
  uint32_t count_ = 0;
};

}  // namespace nearcache
