// How far ahead a program should prefetch, found from what waiting costs and how often lines are used.
//
// Prefetched lines arrive together: the first use of one waits for all that are under way, and the uses after it find theirs
// here. With a distance of k uses that is one wait in k uses, so the wait's share of the time is wait / (k * time between uses),
// and k is chosen to make it small. (The paper left the choice to the programmer: Ferguson and Buettner, sections IV.C and VII.)
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache {

class PrefetchPace {
 public:
  // pre: at least 1. The longest distance: what the cache can hold besides everything else.
  void create(uint64_t longest) {
    longest_ = longest;
    distance_ = std::min<uint64_t>(first_distance, longest);
  }

  uint64_t distance() const { return distance_; }

  void used(uint64_t lines) { uses_ += lines; }

  // A use had to wait from `begin` to `end` (ticks).
  void waited(uint64_t begin, uint64_t end) {
    if (last_end_ != 0 && uses_ > 0) {
      average(&wait_, static_cast<double>(end - begin));
      average(&between_, static_cast<double>(begin - last_end_) / static_cast<double>(uses_));
      if (++waits_ >= waits_to_learn) choose();
    }
    last_end_ = end;
    uses_ = 0;
  }
  // The program did something else meanwhile: the time since the last wait tells nothing.
  void interrupted() { last_end_ = 0; }

 private:
  static constexpr uint64_t first_distance = 16;  // hides most of the latency of any network, and fits the smallest cache
  static constexpr double waiting_share = 0.02;   // of the time: less than what can be measured
  static constexpr int waits_to_learn = 2;

  static void average(double* value, double sample) { *value = *value == 0 ? sample : 0.75 * *value + 0.25 * sample; }

  void choose() {
    const double wanted = between_ <= 0 ? static_cast<double>(longest_) : wait_ / (waiting_share * between_);
    distance_ = static_cast<uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(longest_)));
  }

  uint64_t longest_ = 1, distance_ = 1, uses_ = 0, last_end_ = 0;
  double wait_ = 0, between_ = 0;
  int waits_ = 0;
};

}  // namespace nearcache
