// Whether the program's reads are scattered and hardly ever repeat, so that caching cannot help.
//
// Bringing a page in costs some hundred nanoseconds more than the get alone, which hits must earn
// back. So where a span of misses came with too few hits for that, most misses go past the cache
// for some spans, for longer each time that this is found again. That caching would help shows
// meanwhile, too: the first misses of every span are cached, as a stream or a stride is recognised
// within a few; one page in sixteen always is, for what comes back after long; and so is a page
// that was missed just now, or one beside it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/page/recent_pages.h"

namespace nearcache {

class ScatteredReads {
 public:
  struct Seen {
    bool full;       // a new page pushes out another one
    uint64_t hits;   // so far
    uint64_t gets;   // that were timed,
    double gets_ns;  // and what they took
  };

  // A read within page `number` of `pe` finds no such page. True: it should be read past the cache.
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
  // Of a miss that is cached: 1,200 instructions, 150 ns in a loop of nothing else, but 800 ns
  // measured over TCP, whose code, too, uses the processor's caches.
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
  uint32_t misses_ = 0;         // of this span
  uint32_t spans_to_pass_ = 0;  // while passing: this one and those after it
  uint32_t rest_ = 1;           // how many it will be next time
  uint64_t hits_then_ = 0;      // when the span began
  // hits that a span must come with; fewer where a get takes long
  uint64_t worthwhile_ = 0;
  RecentPages<16> missed_;
};

}  // namespace nearcache
