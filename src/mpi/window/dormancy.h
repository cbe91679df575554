// Mode transparent, where nothing repeats: a program must not pay for the search.
#pragma once

#include <cstdint>

namespace nearcache::mpi {

// After a span of gets in which fewer than one in 64 was a hit, most gets pass, and short spans look again.
class Dormancy {
 public:
  // Is this get to pass? `hits` counts those of the window so far.
  bool passes(uint64_t hits) {
    constexpr uint32_t first_span = 1024, short_span = 64, pause = 4096;
    if (asleep_ > 0) {
      --asleep_;
      return true;
    }
    if (++awake_ <= span_) return false;
    const bool repeats = (hits - hits_then_) * 64 >= span_;
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
  uint32_t awake_ = 0, span_ = 1024, asleep_ = 0;  // gets looked at in this span, its length, gets to let pass until the next
  uint64_t hits_then_ = 0;                         // when the span began
};

}  // namespace nearcache::mpi
