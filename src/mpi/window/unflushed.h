// SPDX-License-Identifier: BSD-3-Clause

// The targets at which writes that were not noted, during a pause, may be outstanding: exactly, as
// long as the program writes to one target between two synchronisations that complete all.
#pragma once

#include <climits>

#include "cache/get/targets.h"

namespace nearcache::mpi {

class Unflushed {
 public:
  // `target`: as the program named it, perhaps no rank at all.
  [[gnu::always_inline]] void wrote(int target) {
    if (target != target_) [[unlikely]]
      wrote_elsewhere(target);
  }
  // From now on nobody tells of writes.
  void wrote_untold() { target_ = anywhere; }
  // Everything at these targets is complete.
  void completed(Targets targets) {
    const bool its = targets.is_one() && static_cast<int>(targets.rank()) == target_;
    if (its || (targets.is_all() && target_ != anywhere)) target_ = nowhere;
  }

  bool none() const { return target_ == nowhere; }
  Targets targets() const {
    if (target_ == nowhere) return Targets::none();
    return target_ >= 0 ? Targets::one(static_cast<uint32_t>(target_)) : Targets::all();
  }

 private:
  void wrote_elsewhere(int target) {
    if (target < 0 || target_ == anywhere) return;
    target_ = target_ == nowhere ? target : several;
  }

  static constexpr int nowhere = INT_MIN, several = INT_MIN + 1, anywhere = INT_MIN + 2;
  int target_ = nowhere;
};

}  // namespace nearcache::mpi
