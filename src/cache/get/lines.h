// Learns how long a line small gets should fetch around the requested bytes, from whether
// neighbouring bytes are requested, too.
//
// At first no lines are fetched. A miss near a recent one would have been a hit if that one had
// fetched a longer line: if this is true of a quarter of the misses, the line length doubles; of
// three quarters, it quadruples. Lines that never led to a hit on a neighbour shorten it again, in
// the end to no lines at all, for longer and longer pauses. Both are learned from samples, as in
// ghosts.h, so that a small memory looks back far.
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

  // Reports that a small get of byte `at` missed, in generation `generation` of the cache.
  void missed(uint32_t target, int64_t at, uint32_t generation);
  // Reports that a line is being fetched for a get of byte `at`. Lines that are given up before
  // their neighbours are requested count as unused, so lines end where the storage is too small for
  // them.
  void fetched(const Key& line, int64_t at, uint32_t generation);
  // Reports that an entry which begins at `line` served byte `at`. Returns true if further uses of
  // this entry tell nothing new.
  bool used(const Key& line, int64_t at, uint32_t generation);

 private:
  struct Seen {
    uint32_t name = 0;  // 0: empty
    uint16_t at = 0;  // offset of the byte in its block of `longest`, or from the line's beginning
    bool used = false;
  };
  // A sample of events, selected by hash: at first all, then an ever smaller share as more come.
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
  static constexpr uint32_t judged = 32;  // lines per judgement
  static constexpr uint32_t first_pause = 1024, longest_pause = 1 << 18;  // misses

  uint64_t length_ = 0;
  uint32_t misses_ = 0, near_ = 0;
  uint32_t used_ = 0, unused_ = 0;
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
