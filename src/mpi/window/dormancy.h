// Mode transparent, if too few gets repeat: a program must not pay for the search.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache::mpi {

// After a span of gets in which too few were hits, most gets pass, and short spans look again.
// Where a get takes microseconds one hit in 64 gets pays for the search; where it takes 100 ns, a
// miss costs what several hits save.
class Dormancy {
 public:
  // Is this get, which may not be one of the quickest hits, to pass? `hits` counts all of the
  // window so far; `cheap`: gets are loads, nearly.
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
  // So many more gets have passed.
  void passed(uint32_t gets) { asleep_ -= gets < asleep_ ? gets : asleep_; }

 private:
  // gets looked at in this span, its length, gets to let pass until the next
  uint32_t awake_ = 0, span_ = 1024, asleep_ = 0;
  uint64_t hits_then_ = 0;  // when the span began
};

}  // namespace nearcache::mpi
