// Does it pay to store what was fetched? Learned per power of two of size from what became of stored gets.
#pragma once

#include <cstdint>

#include "cache/cost_model.h"

namespace nearcache {

class Worth {
 public:
  // An entry got its first hit; `seen` says whether its key was asked for before it was stored.
  void first_hit(uint64_t bytes, bool seen) { classes_[CostModel::class_of(bytes)].kinds[seen].hit += 1; }
  void stored(uint64_t bytes, bool seen) {
    Kind& kind = classes_[CostModel::class_of(bytes)].kinds[seen];
    kind.stored += 1;
    if (kind.stored > 512) kind.stored /= 2, kind.hit /= 2;
  }

  // Storing costs a copy of the data; it pays if the chance of a hit times what a hit saves is more. Every 16th get that
  // does not seem worth it is stored all the same, to go on learning.
  bool worth_storing(uint64_t bytes, bool seen, double remote_ns, double copy_ns) {
    const Kind& kind = classes_[CostModel::class_of(bytes)].kinds[seen];
    const double chance = (kind.hit + prior_hits) / (kind.stored + 2 * prior_hits);
    if (chance * remote_ns > copy_ns) return true;
    return ++skipped_ % 16 == 0;
  }

 private:
  static constexpr float prior_hits = 8;  // half of what is stored is expected to be hit, until so much is known

  struct Kind {
    float stored = 0, hit = 0;
  };
  struct Class {
    Kind kinds[2];  // keys never seen, keys seen before
  };

  Class classes_[CostModel::size_classes];
  uint32_t skipped_ = 0;
};

}  // namespace nearcache
