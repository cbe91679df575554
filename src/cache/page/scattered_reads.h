// SPDX-License-Identifier: BSD-3-Clause

// Detects that the program's reads are scattered and hardly ever repeat, so that caching cannot
// help.
//
// Bringing in a page costs some hundred nanoseconds more than the get alone, which hits must
// recover. If a span of misses came with too few hits for that, most misses of the next spans
// bypass the cache, for twice as many spans each time this is found again. Signs that caching would
// help are still noticed: the first misses of every span are cached, because a few are enough to
// recognise a stream or a stride; one page in sixteen is always cached, for data that is reused
// after a long time; and so is a page that was missed recently or that is next to one that was.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/page/recent_pages.h"

namespace nearcache {

class ScatteredReads {
 public:
  struct Seen {
    bool full;       // a new page evicts another one
    uint64_t hits;   // so far
    uint64_t gets;   // number of gets that were timed
    double gets_ns;  // total time of these gets, ns
  };

  // Decides about a read in page `number` of `pe`, which is not cached. Returns true if the read
  // should bypass the cache.
  bool passes(int pe, uint64_t number, const Seen& seen) {
    const uint64_t gained = seen.hits - hits_then_;
    if (misses_ == span || (passing_ && gained >= 2 * worthwhile_)) begin_span(seen, gained);
    ++misses_;
    if (!passing_ || misses_ <= trial) return false;
    const uint64_t name = page_name(pe, number);
    const bool beside = missed_.has(name) || missed_.has(name - 1) || missed_.has(name + 1);
    missed_.add(name);
    return !beside && (name * 0x9E3779B97F4A7C15u) >> 60 != 0;
  }

 private:
  static constexpr uint32_t span = 256, trial = 8;
  static constexpr uint32_t longest_rest = 16;
  // Overhead of a miss that is cached: 1,200 instructions. That is 150 ns in a loop of nothing
  // else, but 800 ns measured over TCP, whose code competes for the processor's caches.
  static constexpr double bookkeeping_ns = 800;

  void begin_span(const Seen& seen, uint64_t gained) {
    if (!passing_) {
      passing_ = seen.full && gained < worthwhile_;
      spans_to_pass_ = rest_;
      rest_ = passing_ ? std::min(2 * rest_, longest_rest) : 1;
    } else if (gained >= 2 * worthwhile_) {
      passing_ = false;
      rest_ = 1;
    } else if (--spans_to_pass_ == 0) {
      passing_ = false;
    }
    const double get_ns = seen.gets == 0 ? 0 : seen.gets_ns / static_cast<double>(seen.gets);
    worthwhile_ = static_cast<uint64_t>(
        span * std::clamp(bookkeeping_ns / std::max(get_ns, 1.0), 1.0 / 64, 1.0 / 8));
    hits_then_ = seen.hits;
    misses_ = 0;
  }

  bool passing_ = false;
  uint32_t misses_ = 0;         // in this span
  uint32_t spans_to_pass_ = 0;  // while passing: spans left, including this one
  uint32_t rest_ = 1;           // number of spans to pass next time
  uint64_t hits_then_ = 0;      // `hits` when the span began
  // hits that justify caching during a span; fewer if gets take long
  uint64_t worthwhile_ = 0;
  RecentPages<16> missed_;
};

}  // namespace nearcache
