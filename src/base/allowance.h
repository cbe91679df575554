// SPDX-License-Identifier: BSD-3-Clause

// A time allowance for work that may not pay off: a fixed share of the elapsed time, plus a small
// burst.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache {

class Allowance {
 public:
  // Allows 1/share of the elapsed time and saves up `most` at most. All times are in one unit of
  // the caller's choice.
  Allowance(uint64_t share, uint64_t most, uint64_t now)
      : share_(static_cast<int64_t>(share)),
        most_(static_cast<int64_t>(most)),
        balance_(most_),
        at_(now) {}

  bool left(uint64_t now) {
    const auto earned = static_cast<int64_t>(now - at_) / share_;
    if (earned > 0) {
      balance_ = std::min(balance_ + earned, most_);
      at_ = now;
    }
    return balance_ >= 0;
  }
  void spent(uint64_t time) { balance_ -= static_cast<int64_t>(time); }

 private:
  int64_t share_, most_, balance_;
  uint64_t at_;
};

}  // namespace nearcache
