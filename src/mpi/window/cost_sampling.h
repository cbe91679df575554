// What remote gets of a window cost, measured on a few of them: the get itself plus its share of the synchronisation that completes it.
// Where that is no more than a hit would cost, caching cannot gain and gets are passed (design, "do no harm").
#pragma once

#include <cstdint>

#include "cache/get/cost_model.h"
#include "front/targets.h"

namespace nearcache::mpi {

// One measurement at a time, of one target; near and far targets are judged apart.
class CostSampling {
 public:
  // Is this miss to be measured? `alone`: nothing is outstanding at its target, which would be counted for it.
  bool miss_is_due(bool alone);
  // Now and then a passed get is measured, since a target that is cheap now need not stay so.
  bool passed_is_due(uint32_t every);
  bool idle() const { return target_ < 0; }

  // A get that is measured took so long to issue.
  void issued(int target, uint64_t bytes, uint64_t ticks);
  // Gets that are completed along with a measured one share the cost of its synchronisation.
  void joined(int target, uint64_t bytes) {
    if (target_ != target) return;
    bytes_ += bytes;
    ++gets_;
  }
  // The synchronisation would be measured with the write's.
  void write_begins(int target) {
    if (target_ == target) drop();
  }
  void drop() { target_ = -1, bytes_ = gets_ = ticks_ = 0; }

  // Around a synchronisation. `begin` returns its time if it is measured, else 0.
  uint64_t sync_begins(Targets targets) { return idle() ? 0 : begin_measured(targets); }
  struct Result {
    uint64_t bytes = 0;  // a get, in the mean
    double ns = 0;
    int target = -1;
  };
  Result sync_ends(uint64_t began);

  // Takes a result. `judge`: sizes may be found to be cheap.
  void learn(const Result& result, bool far, bool judge);
  bool cheap(bool far, uint64_t bytes) const { return (cheap_sizes_[far] >> CostModel::class_of(bytes) & 1) != 0; }
  // Of the far targets, or where there are no samples of those, of the near.
  const CostModel& costs() const { return costs_[1].samples() > 0 ? costs_[1] : costs_[0]; }

 private:
  uint64_t begin_measured(Targets targets);

  int target_ = -1;
  uint64_t bytes_ = 0, gets_ = 0, ticks_ = 0;
  uint32_t until_miss_ = 1;
  uint32_t until_passed_ = 1 << 16;
  uint32_t taken_ = 0;
  CostModel costs_[2];                // near, far
  uint64_t cheap_sizes_[2] = {0, 0};  // bit per power of two
};

}  // namespace nearcache::mpi
