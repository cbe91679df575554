// SPDX-License-Identifier: BSD-3-Clause

// What the get cache stores about one cached get, or about one piece of free storage.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nearcache {

// The name of a get: the target's rank, the displacement (in bytes, or in units of the target if
// the units are not known to be equal on all ranks), and the id of its layout at the target, 0 for
// contiguous bytes. 64-bit throughout.
struct Key {
  int64_t displacement = 0;
  uint32_t target = 0;
  uint32_t layout = 0;
  bool operator==(const Key&) const = default;
};

using EntryId = uint32_t;
inline constexpr EntryId no_entry = UINT32_MAX;

// Storage is allocated in granules. With granules of 64 B instead of 16 B, Barnes-Hut saves 4
// points less of its cost (policy study).
inline constexpr uint64_t granule_bytes = 16;

inline constexpr uint32_t granules_of(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + granule_bytes - 1) / granule_bytes);
}

enum class State : uint8_t {
  unused,      // descriptor in the pool
  free_space,  // piece of free storage
  pending,     // the get is in flight, storage is reserved
  bare,        // the get is in flight, nothing is reserved: serves only repeats in the same epoch
  cached,
  growing  // cached; a longer tail behind the data is in flight
};

// pending but superseded: freed when its get completes
inline constexpr uint8_t flag_orphan = 1;
inline constexpr uint8_t flag_was_hit = 2;    // hit at least once since it was inserted
inline constexpr uint8_t flag_given_up = 4;   // rate: not hit, and no longer expected to be
inline constexpr uint8_t flag_visited = 4;    // sieve: hit since the hand passed
inline constexpr uint8_t flags_segment = 12;  // tinylfu: the queue it is in
inline constexpr uint8_t flag_returned = 16;  // its key had been requested before it was inserted
inline constexpr int segment_shift = 2;
inline constexpr uint8_t flags_all = 31;  // all that fit into an entry

// 48 bytes, so that an entry costs at most 64 bytes beyond its data, including index and sketch.
struct Entry {
  union {
    int64_t displacement;
    struct {
      EntryId bin_before, bin_after;  // free_space: neighbours in its size bin
    };
  };
  uint32_t target;
  uint32_t layout;
  uint32_t place;  // first granule of storage
  uint32_t size;   // bytes of data
  EntryId before;  // neighbours in address order; `after` also links unused descriptors
  EntryId after;
  uint32_t generation;  // the cache's generation when the get was issued
  union {
    uint32_t write_seq;  // cached: own writes seen when it was last found valid
    uint32_t token;      // pending, bare, growing: the front end's record of the get in flight
  };
  uint32_t stamp;     // rate: when its age began; clampi: last access (both in gets)
  uint16_t last_hit;  // rate: its age when it was last hit, by `coarse`
  uint8_t hits;       // rate: times requested again since its age began
  State state : 3;
  uint8_t flags : 5;

  // Stores a number of gets in 16 bits, as the upper bits of a float. The precision of 1/256 is
  // enough to tell how long an entry has been idle.
  static uint16_t coarse(uint32_t gets) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(gets)) >> 15);
  }
  static uint32_t from_coarse(uint16_t value) {
    return static_cast<uint32_t>(std::bit_cast<float>(uint32_t{value} << 15));
  }

  // Returns the number of gets since its last hit, or since it was stored.
  uint32_t idle(uint32_t now) const {
    const uint32_t age = now - stamp;
    return age - std::min(from_coarse(last_hit), age);
  }

  Key key() const { return {displacement, target, layout}; }
  bool holds_storage() const {
    return state == State::pending || state == State::cached || state == State::growing;
  }
};
static_assert(sizeof(Entry) == 48);

// Returns 64 well-mixed bits of a key: two rounds of multiply and fold, since strides of 500, 501
// and 512 bytes must spread equally well over the index.
[[gnu::always_inline]] inline uint64_t hash_key(const Key& key) {
  const auto fold = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const uint64_t where = static_cast<uint64_t>(key.displacement) ^ 0x9e3779b97f4a7c15u;
  const uint64_t what =
      ((static_cast<uint64_t>(key.layout) << 32) | key.target) ^ 0xd6e8feb86659fd93u;
  return fold(fold(where, 0xa0761d6478bd642fu) ^ what, 0xe7037ed1a0b428dbu);
}

}  // namespace nearcache
