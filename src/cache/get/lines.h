// SPDX-License-Identifier: BSD-3-Clause

// Learns how long a line small gets should fetch around the requested bytes, from whether
// neighbouring bytes are requested, too.
//
// At first no lines are fetched. A miss near a recent one would have been a hit if that one had
// fetched a longer line: if this is true of a quarter of the misses, the line length doubles; of
// three quarters, it quadruples. Lines that never led to a hit on a neighbour shorten it again, in
// the end to no lines at all, for longer and longer pauses. Both are learned from samples, as in
// ghosts.h, so that a small memory looks back far.
//
// A policy that judges by what was requested over thousands of gets cannot know that a line is
// about to be used, nor learn it from entries that it kept. So whether neighbours are requested
// soon is learned here, also from refused lines: a line that is fetched again for another of its
// bytes would have been used.
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
  static constexpr uint64_t most_get = 64;  // larger gets fetch what they request
  // Over a network with a latency of some microseconds, 512 B cost hardly more than 8 B.
  static constexpr uint64_t shortest = 64, longest = 512;

  uint64_t length() const { return length_; }  // bytes; 0: no lines
  // Returns true if neighbours are mostly requested soon: within the next few lines fetched. A line
  // is then worth its place at once, whatever its past.
  bool due() const { return due_; }

  // Reports that a small get of byte `at` missed, in generation `generation` of the cache.
  void missed(uint32_t target, int64_t at, uint32_t generation);
  // Reports that a line is being fetched for a get of byte `at`. If it is given up before its
  // neighbours are requested it counts as unused, so lines end where the storage is too small for
  // them, unless they are due.
  void fetched(const Key& line, int64_t at, uint32_t generation);
  // Reports that an entry which begins at `line` served byte `at`. Returns true if further uses of
  // this entry tell nothing new.
  bool used(const Key& line, int64_t at, uint32_t generation);

 private:
  struct Seen {
    uint32_t name = 0;  // 0: empty
    // offset of the byte in its block of `longest`, or from the line's beginning
    uint16_t at : 15 = 0;
    uint16_t used : 1 = false;
    uint16_t when = 0;  // number of lines fetched before
  };
  // A sample of events, selected by hash: at first all, then an ever smaller share as more come.
  class Sample {
   public:
    Seen* find(uint64_t hash);  // null: not in the sample
    bool add(Seen* seen, uint64_t hash, uint16_t at, uint16_t when);

   private:
    static constexpr uint32_t slots = 512, most_bits = 8;
    uint32_t bits_ = 0, kept_ = 0;
    Seen seen_[slots];
  };
  static uint32_t name_of(uint64_t hash) { return static_cast<uint32_t>(hash) | 1; }
  static uint64_t hash_of(uint32_t target, int64_t place, uint32_t generation) {
    return hash_key({place, target, generation});
  }
  // Returns true if few other lines have been fetched since.
  bool is_recent(const Seen& seen) const {
    return static_cast<uint16_t>(lines_ - seen.when) <= recent;
  }
  void judge();

  static constexpr uint32_t span = 8;     // misses between two judgements
  static constexpr uint32_t judged = 32;  // lines per judgement
  // Other lines fetched since, after which a use is not soon any more: as many as 32 KiB hold. With
  // 4 to 128, Barnes-Hut with storage for 12 lines saves 59 to 62% (policies.py, 1,000 bodies).
  static constexpr uint32_t recent = 64;
  static constexpr uint32_t first_pause = 1024, longest_pause = 1 << 18;  // misses

  uint64_t length_ = 0;
  bool due_ = false;
  uint32_t misses_ = 0, near_ = 0;
  uint16_t lines_ = 0;              // fetched
  uint32_t used_ = 0, unused_ = 0;  // lines
  uint32_t soon_ = 0;               // of these, lines with a neighbour that was requested soon
  uint32_t pause_ = first_pause, paused_ = 0;
  Sample missed_, fetched_;
};

// The buffers in which lines arrive. Buffers keep their addresses until they are returned.
class LineBuffers {
 public:
  std::byte* take(uint64_t bytes);  // null if very many are in use
  void give_back(std::byte* buffer, uint64_t bytes) { of(bytes).free.push_back(buffer); }

 private:
  // Buffers of one size, allocated in slabs.
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
