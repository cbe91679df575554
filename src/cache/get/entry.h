// What the get cache stores about one cached get, and about one free piece of its storage.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nearcache {

// Names a get: the target's rank, where it starts (bytes, or units of the target where those are
// not known to be alike on all ranks), and the id of its layout at the target; 0 is contiguous
// bytes. 64-bit all through.
struct Key {
  int64_t displacement = 0;
  uint32_t target = 0;
  uint32_t layout = 0;
  bool operator==(const Key&) const = default;
};

using EntryId = uint32_t;
inline constexpr EntryId no_entry = UINT32_MAX;

// Storage is handed out in granules: 64 B ones cost Barnes-Hut 4 points of cost saved against 16 B
// (policy study).
inline constexpr uint64_t granule_bytes = 16;

inline constexpr uint32_t granules_of(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + granule_bytes - 1) / granule_bytes);
}

enum class State : uint8_t {
  unused,      // descriptor in the pool
  free_space,  // free storage
  pending,     // storage reserved, the get is under way
  bare,        // the get is under way, nothing reserved: serves repeats of the same epoch only
  cached,
  growing  // cached; a longer tail is under way behind the data
};

// pending, but superseded: freed when its get completes
inline constexpr uint8_t flag_orphan = 1;
inline constexpr uint8_t flag_was_hit = 2;    // hit at least once since it was inserted
inline constexpr uint8_t flag_given_up = 4;   // rate: not hit, and no hit is expected any more
inline constexpr uint8_t flag_visited = 4;    // sieve: hit since the hand passed
inline constexpr uint8_t flags_segment = 12;  // tinylfu: which queue it stands in
inline constexpr uint8_t flag_returned = 16;  // its key was asked for before it was inserted
inline constexpr int segment_shift = 2;
inline constexpr uint8_t flags_all = 31;  // what an entry has room for

// 48 bytes, so that with index and sketch an entry costs at most 64 bytes beyond its data.
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
  uint32_t generation;  // of the cache when the get was issued
  union {
    uint32_t write_seq;  // cached: own writes seen when last found valid
    uint32_t token;      // pending, bare, growing: the front end's record of the get under way
  };
  uint32_t stamp;     // rate: when its age began; clampi: last access (both in gets)
  uint16_t last_hit;  // rate: its age when it was last hit, by `coarse`
  uint8_t hits;       // rate: times asked for again since its age began
  State state : 3;
  uint8_t flags : 5;

  // The upper bits of a float: a number to 1/256 in 16 bits, which is enough to see how long an
  // entry has rested.
  static uint16_t coarse(uint32_t gets) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(gets)) >> 15);
  }
  static uint32_t from_coarse(uint16_t value) {
    return static_cast<uint32_t>(std::bit_cast<float>(uint32_t{value} << 15));
  }

  // Gets since its last hit, or since it was stored.
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

// 64 well-mixed bits of a key: two rounds of multiply and fold, since strides of 500, 501 and 512
// bytes must spread over the index alike.
inline uint64_t hash_key(const Key& key) {
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
