// SPDX-License-Identifier: BSD-3-Clause

// Keeps a program from paying for look-ups in mode transparent when too few of its gets repeat.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache::mpi {

// After a span of gets with too few hits, most gets bypass the cache, and short spans check whether
// that has changed. Where a get takes microseconds, one hit in 64 gets pays for the look-ups; where
// it takes 100 ns, a miss costs what several hits save.
class Dormancy {
 public:
  // Returns how many hits are to come on a miss where gets, with their synchronisation, take
  // `get_ns` and are hardly more than loads. A hit saves all but 35 ns of that; a miss costs 250
  // more, and what repeats may not do so for long, hence three times as many as would pay for it.
  static uint32_t hits_on_a_miss(double get_ns) {
    return static_cast<uint32_t>(std::clamp(3 * 250 / std::max(get_ns - 35, 1.0), 1.0, 15.0));
  }

  // Returns true if this get, which is not one of the quickest hits, should bypass the cache.
  // `hits`: all hits of the window so far; `quick`: the quickest of them, for which this is not
  // called. `wanted`: hits_on_a_miss(), or 0 where gets are more than loads.
  bool passes(uint64_t hits, uint64_t quick, uint32_t wanted) {
    if (asleep_ > 0) {
      --asleep_;
      return true;
    }
    const Spans& spans = wanted == 0 ? dear : wanted <= few_wanted ? between : quickest;
    const uint32_t span = slept_ > 0 ? spans.again : spans.first;
    if (++awake_ <= span) return false;
    const uint64_t hits_since = hits - hits_then_, slow_hits = hits_since - (quick - quick_then_);
    const uint64_t missed = awake_ - 1 - std::min<uint64_t>(slow_hits, awake_ - 1);
    const bool repeats = wanted > 0 ? hits_since >= wanted * missed : hits_since * 64 >= span;
    hits_then_ = hits;
    quick_then_ = quick;
    awake_ = 0;
    slept_ = repeats ? 0 : std::clamp(2 * slept_, spans.least_sleep, spans.longest_sleep);
    asleep_ = slept_;
    return !repeats;
  }

  bool asleep() const { return asleep_ > 0; }
  // Accounts for `gets` more gets that bypassed the cache.
  void passed(uint32_t gets) { asleep_ -= gets < asleep_ ? gets : asleep_; }

 private:
  // In gets: the first span, or any after one with enough hits; those after a sleep; the first
  // sleep, and the last, each twice as long as the one before. Where hits save a few times what a
  // miss costs, spans are long enough for a working set of hundreds of gets, which are all missed
  // after an acquire.
  struct Spans {
    uint32_t first, again, least_sleep, longest_sleep;
  };
  static constexpr Spans dear{1024, 64, 4096, 4096}, between{1024, 512, 4096, 65536},
      quickest{128, 64, 4096, 4096};
  static constexpr uint32_t few_wanted = 4;

  uint32_t awake_ = 0, asleep_ = 0;  // gets looked at in this span; left to bypass before the next
  uint32_t slept_ = 0;               // the last sleep; 0: the last span had enough hits
  uint64_t hits_then_ = 0, quick_then_ = 0;  // at the start of the span
};

}  // namespace nearcache::mpi
