// How long a line small gets fetch around the requested bytes, learned from whether neighbouring
// bytes are requested too.
//
// None at first. A miss near a recent one would have been a hit if that one had fetched a longer
// line: if a quarter of the misses would, lines become twice as long; if three quarters would, four
// times. Lines that were fetched and never led to a hit on a neighbour make them shorter again, in
// the end none at all, for longer and longer pauses. Both are learned from samples, as in ghosts.h,
// so that a small memory looks back far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/get/entry.h"

namespace nearcache {

class Lines {
 public:
  static constexpr uint64_t most_get = 64;  // larger ones fetch what they ask for
  // Over a network of some microseconds 512 B cost hardly more than 8.
  static constexpr uint64_t shortest = 64, longest = 512;

  uint64_t length() const { return length_; }  // 0: none

  // A small get of byte `at` missed, in the cache's generation `generation`.
  void missed(uint32_t target, int64_t at, uint32_t generation);
  // A line was fetched for a get of byte `at` and is kept.
  void fetched(const Key& line, int64_t at, uint32_t generation);
  // An entry that begins with `line` served byte `at`. True: more uses of it would tell nothing.
  bool used(const Key& line, int64_t at, uint32_t generation);

 private:
  struct Seen {
    uint32_t name = 0;  // 0: empty
    uint16_t at = 0;    // of the byte within `longest`, or from the line's begin
    bool used = false;
  };
  // Some of what is seen, by its hash; all at first, an ever smaller share as more comes.
  class Sample {
   public:
    Seen* find(uint64_t hash);  // null: not in the sample
    bool add(Seen* seen, uint64_t hash, uint16_t at);

   private:
    static constexpr uint32_t slots = 512, most_bits = 8;
    uint32_t bits_ = 0, kept_ = 0;
    Seen seen_[slots];
  };
  static uint32_t name_of(uint64_t hash) { return static_cast<uint32_t>(hash) | 1; }
  static uint64_t hash_of(uint32_t target, int64_t place, uint32_t generation) {
    return hash_key({place, target, generation});
  }
  void judge();

  static constexpr uint32_t span = 8;     // misses between two judgements
  static constexpr uint32_t judged = 32;  // lines
  static constexpr uint32_t first_pause = 1024, longest_pause = 1 << 18;  // misses

  uint64_t length_ = 0;
  uint32_t misses_ = 0, near_ = 0;
  uint32_t used_ = 0, unused_ = 0;
  uint32_t pause_ = first_pause, paused_ = 0;
  Sample missed_, fetched_;
};

// Where lines arrive. They stay where they are until they are given back.
class LineBuffers {
 public:
  std::byte* take(uint64_t bytes);  // null if very many are in use
  void give_back(std::byte* buffer, uint64_t bytes) { of(bytes).free.push_back(buffer); }

 private:
  // Buffers of one size, made by the slab.
  struct Pool {
    uint64_t bytes;
    size_t slab, most_slabs;
    std::vector<std::unique_ptr<std::byte[]>> slabs = {};
    std::vector<std::byte*> free = {};
  };
  Pool& of(uint64_t bytes) { return bytes <= lines_.bytes ? lines_ : streams_; }

  Pool lines_{Lines::longest + Lines::most_get, 16, 64};
  Pool streams_{8 * Lines::longest + Lines::most_get, 2, 32};
};

}  // namespace nearcache
