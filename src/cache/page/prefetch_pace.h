// How far ahead a program should prefetch, found from what waiting costs and how often lines are used.
//
// Prefetched lines arrive together: the first use of one waits for all that are under way, and the uses after it find theirs
// here. With a distance of k uses that is one wait in k uses, so the wait's share of the time is wait / (k * time between uses),
// and the first choice makes it small. But a network may take longer for each transfer when many are under way (TCP does, when a
// socket's buffer is full). So from there the distance is doubled or halved as long as a use takes less time in all, and what was
// found is tried again now and then. (The paper left the choice to the programmer: Ferguson and Buettner, sections IV.C and VII.)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace nearcache {

class PrefetchPace {
 public:
  // pre: at least 1. The longest distance: what the cache can hold besides everything else.
  void create(uint64_t longest) {
    top_ = std::min(level_of(longest), levels - 1);
    level_ = std::min(first_level, top_);
  }

  uint64_t distance() const { return uint64_t{1} << level_; }

  void used(uint64_t lines) { uses_ += lines; }

  // A use had to wait from `begin` to `end` (ns).
  void waited(double begin, double end) {
    if (last_end_ != 0 && uses_ > 0) {
      if (waits_ < waits_to_learn) {
        learn(end - begin, (begin - last_end_) / static_cast<double>(uses_));
      } else {
        sample(end - last_end_);
      }
    }
    last_end_ = end;
    uses_ = 0;
  }
  // The program did something else meanwhile: the time since the last wait tells nothing.
  void interrupted() { last_end_ = 0; }

 private:
  static constexpr int levels = 9;                // distances 1, 2, 4, ... 256
  static constexpr int first_level = 4;           // 16 hides most of the latency of any network, and fits the smallest cache
  static constexpr double waiting_share = 0.05;   // of the time, in the first choice: less than what can be measured
  static constexpr int waits_to_learn = 3;
  static constexpr uint64_t uses_a_sample = 512;  // so that a sample is of several waits
  static constexpr double telling = 0.97;         // a longer distance must gain 3%, or it only fills the cache
  static constexpr int samples_to_doubt = 16;     // until the distances beside the best one are tried again

  static int level_of(uint64_t distance) { return static_cast<int>(std::bit_width(distance)) - 1; }

  void learn(double wait, double between) {
    wait_ = wait_ == 0 ? wait : 0.75 * wait_ + 0.25 * wait;
    between_ = between_ == 0 ? between : 0.75 * between_ + 0.25 * between;
    if (++waits_ < waits_to_learn) return;
    const double longest = static_cast<double>(uint64_t{1} << top_);
    const double wanted = between_ <= 0 ? longest : std::clamp(wait_ / (waiting_share * between_), 1.0, longest);
    go_to(level_of(static_cast<uint64_t>(wanted)));
  }

  void sample(double ns) {
    if (settling_ > 0) {  // the program still moves to a new distance
      settling_ -= std::min(settling_, uses_);
      return;
    }
    ns_ += ns;
    sampled_ += uses_;
    if (sampled_ < std::max(uses_a_sample, 2 * distance())) return;
    const double cost = ns_ / static_cast<double>(sampled_);
    cost_[level_] = cost_[level_] == 0 ? cost : 0.5 * (cost_[level_] + cost);
    ns_ = 0;
    sampled_ = 0;
    go_to(next_level());
  }

  // The cheapest distance known, a shorter one if it is about as cheap; or one beside it that is not known.
  int next_level() {
    int best = level_;
    for (int i = 0; i <= top_; ++i)
      if (cost_[i] != 0 && cost_[i] < cost_[best]) best = i;
    const double bound = cost_[best] / telling;
    while (best > 0 && cost_[best - 1] != 0 && cost_[best - 1] <= bound) --best;
    if (best < top_ && cost_[best + 1] == 0) return best + 1;
    if (best > 0 && cost_[best - 1] == 0) return best - 1;
    if (++stayed_ >= samples_to_doubt) {
      stayed_ = 0;
      for (int i = 0; i <= top_; ++i)
        if (i != best) cost_[i] = 0;
    }
    return best;
  }

  void go_to(int level) {
    if (level != level_) settling_ = 2 * std::max(distance(), uint64_t{1} << level);
    level_ = level;
  }

  int top_ = 0, level_ = 0, waits_ = 0, stayed_ = 0;
  uint64_t uses_ = 0, sampled_ = 0, settling_ = 0;
  double last_end_ = 0, ns_ = 0, wait_ = 0, between_ = 0;
  double cost_[levels] = {};  // ns a use, by distance
};

}  // namespace nearcache
