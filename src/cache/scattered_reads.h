// Whether the program reads here and there and hardly ever again, so that caching cannot help it.
//
// Bringing a page in costs some hundred nanoseconds more than the get alone, which hits must earn back. So where a span of misses
// came with too few hits for that, most misses go past the cache from then on. Whether caching would help again shows at little cost:
// the first misses of every span are cached, as a stream or a stride is recognised within a few; one page in eight always is, for
// what comes back after long; and so is a page that was missed just now, or one beside it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/clock.h"

namespace nearcache {

class ScatteredReads {
 public:
  struct Seen {
    bool full;              // a new page pushes out another one
    uint64_t hits;          // so far
    uint64_t gets, ticks;   // that were timed, and what they took
  };

  // A read within page `number` of `pe` finds no such page. True: it should be read past the cache.
  bool passes(int pe, uint64_t number, const Seen& seen) {
    const uint64_t gained = seen.hits - hits_then_;
    if (passing_ && gained >= std::max<uint64_t>(worthwhile_ / 4, 2)) {
      begin_span(seen, false);
    } else if (misses_ == span) {
      begin_span(seen, seen.full && gained < worthwhile_);
    }
    ++misses_;
    if (!passing_ || misses_ <= trial) return false;
    const uint64_t name = number + (static_cast<uint64_t>(static_cast<uint32_t>(pe)) << 40);
    const bool beside = missed_now(name) || missed_now(name - 1) || missed_now(name + 1);
    missed_[name % missed_pages] = name;
    return !beside && (name * 0x9E3779B97F4A7C15u) >> 61 != 0;
  }

 private:
  static constexpr uint32_t span = 256, trial = 16;
  static constexpr uint64_t missed_pages = 16;
  static constexpr double bookkeeping_ns = 250;  // of a cached miss: 1,200 instructions, 150 ns if nothing else uses the caches

  bool missed_now(uint64_t name) const { return missed_[name % missed_pages] == name; }

  void begin_span(const Seen& seen, bool passing) {
    const double get_ns = seen.gets == 0 ? 0 : ticks_to_ns(seen.ticks) / static_cast<double>(seen.gets);
    worthwhile_ = static_cast<uint64_t>(span * std::clamp(bookkeeping_ns / std::max(get_ns, 1.0), 1.0 / 64, 1.0 / 8));
    hits_then_ = seen.hits;
    misses_ = 0;
    passing_ = passing;
  }

  bool passing_ = false;
  uint32_t misses_ = 0;      // of this span
  uint64_t hits_then_ = 0;   // when it began
  uint64_t worthwhile_ = 0;  // hits that a span must come with; fewer where a get takes long
  uint64_t missed_[missed_pages] = {};  // by hash: pages that were missed last
};

}  // namespace nearcache
