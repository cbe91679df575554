// SPDX-License-Identifier: BSD-3-Clause

// Predicts whether a call of some kind is followed by the next one at once: programs do the same
// again and again.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache::rma {

class Habit {
 public:
  bool expects() const { return run_ >= needed_; }
  // Records whether the next call followed at once. After a wrong prediction, twice as many calls
  // in a row must be followed at once before the next prediction.
  void note(bool at_once) {
    if (at_once) {
      run_ = std::min<uint16_t>(most, run_ + 1u);
      return;
    }
    if (expects()) needed_ = std::min<uint16_t>(most, 2u * needed_);
    run_ = 0;
  }

 private:
  static constexpr uint16_t most = 4096;
  uint16_t run_ = 0, needed_ = 8;
};

}  // namespace nearcache::rma
