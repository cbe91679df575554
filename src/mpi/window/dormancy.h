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
  // Returns true if this get, which may not be one of the quickest hits, should bypass the cache.
  // `hits`: all hits of the window so far; `cheap`: gets are hardly more than loads.
  bool passes(uint64_t hits, bool cheap) {
    constexpr uint32_t first_span = 1024, cheap_span = 128, short_span = 64, pause = 4096;
    if (asleep_ > 0) {
      --asleep_;
      return true;
    }
    if (++awake_ <= (cheap ? std::min(span_, cheap_span) : span_)) return false;
    const uint64_t hits_since = hits - hits_then_;
    const bool repeats = cheap ? hits_since >= 15 * (awake_ - 1) : hits_since * 64 >= span_;
    hits_then_ = hits;
    awake_ = 0;
    span_ = repeats ? first_span : short_span;
    asleep_ = repeats ? 0 : pause;
    return !repeats;
  }

  bool asleep() const { return asleep_ > 0; }
  // Accounts for `gets` more gets that bypassed the cache.
  void passed(uint32_t gets) { asleep_ -= gets < asleep_ ? gets : asleep_; }

 private:
  // gets looked at in this span, the span's length, gets left to bypass before the next span
  uint32_t awake_ = 0, span_ = 1024, asleep_ = 0;
  uint64_t hits_then_ = 0;  // at the start of the span
};

}  // namespace nearcache::mpi
