// SPDX-License-Identifier: BSD-3-Clause

// Predicts whether a call of some kind is followed by the next one at once: programs do the same
// again and again. Pause measures the time between two calls.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache::rma {

class Habit {
 public:
  // A call follows at once if it begins within this time of the end of the last one: the agent
  // would hardly answer in less time. With 50 us, programs whose ranks compute in step for 30 us at
  // a time lost a tenth, because they waited for each other.
  static constexpr uint64_t at_once_ns = 20000;

  bool expects() const { return run_ >= needed && lateness_ < tolerated_ns; }
  // Records how much later the next call came.
  void note(uint64_t gap_ns) {
    const bool at_once = gap_ns < at_once_ns;
    run_ = at_once ? std::min(needed, run_ + 1) : 0;
    const int64_t late = at_once ? 0 : static_cast<int64_t>(std::min(gap_ns, longest_ns));
    lateness_ += (late - lateness_) / memory;
  }

 private:
  // A right prediction saves about `tolerated_ns`; a wrong one delays others until the next call,
  // at worst for `longest_ns`. Threads that do the same again and again are late, too, when they
  // have lost their core for a while.
  static constexpr int64_t tolerated_ns = 1000, memory = 256;
  static constexpr uint64_t longest_ns = 2000000;
  static constexpr uint32_t needed = 8;
  uint32_t run_ = 0;      // calls that were followed at once, since the last one that was not
  int64_t lateness_ = 0;  // mean of the last `memory` calls or so, ns
};

// The time from the end of a call to the beginning of the next one. When two ranks access each
// other's memory at the same time, a request arrives just before its target's own next call, which
// then waits for the agent. This wait does not count: the program was not late.
class Pause {
 public:
  void begin(uint64_t now) {
    began_ = now;
    waited_ = 0;
  }
  bool has_begun() const { return began_ != 0; }
  uint64_t began() const { return began_; }
  // A thread waited for the agent's lock. If it began before this pause, it waited for a call.
  void wait(uint64_t from, uint64_t to) {
    if (from >= began_) waited_ += to - from;
  }
  uint64_t at(uint64_t now) const {
    const uint64_t since = now - began_;
    return since - std::min(waited_, since);
  }

 private:
  uint64_t began_ = 0, waited_ = 0;  // ns
};

}  // namespace nearcache::rma
