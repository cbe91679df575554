// The cost of a window's remote gets, measured on a sample of them: the get itself plus its share
// of the synchronisation that completes it, or of the wait for its request. If that is no more than
// a hit would cost, caching cannot gain and gets bypass the cache (design, "do no harm").
#pragma once

#include <cstdint>

#include "cache/get/cost_model.h"
#include "front/targets.h"

namespace nearcache::mpi {

// One measurement of gets at a time, of one target, and one of a get with a request; near and far
// targets are judged apart.
class CostSampling {
 public:
  // Is this miss to be measured? `alone`: nothing is outstanding at its target, which would be
  // counted for it.
  bool miss_is_due(bool alone);
  // The same of an Rget: what else is outstanding is not completed by its wait.
  bool request_miss_is_due();
  // Now and then a passed get is measured, since a target that is cheap now need not stay so.
  bool passed_is_due(uint32_t every, bool request);
  // So many have passed unasked.
  void passed(uint32_t gets) { until_passed_ -= gets < until_passed_ ? gets : until_passed_ - 1; }
  bool idle() const { return gets_.target < 0; }
  bool request_idle() const { return request_.target < 0; }

  // A get that is measured took so long to issue.
  void issued(int target, uint64_t bytes, uint64_t ticks);
  // Gets that are completed along with a measured one share the cost of its synchronisation.
  void joined(int target, uint64_t bytes) {
    if (gets_.target == target) gets_.add(bytes);
  }
  // The synchronisation would be measured with the write's.
  void write_begins(int target) {
    if (gets_.target == target) drop();
  }
  void drop() { gets_ = Measured(); }

  // Around a synchronisation. `begin` returns its time if it is measured, else 0.
  uint64_t sync_begins(Targets targets) {
    // its wait finds nothing to do
    if (!request_idle() && targets.cover(static_cast<uint32_t>(request_.target))) drop_request();
    return idle() ? 0 : begin_measured(targets);
  }
  struct Result {
    uint64_t bytes = 0;  // a get, in the mean
    double ns = 0;
    int target = -1;
  };
  Result sync_ends(uint64_t began);

  // An Rget that is measured took so long to issue. Returns the number by which its wait is told.
  uint64_t request_issued(int target, uint64_t bytes, uint64_t ticks);
  // Rgets that are under way together share the cost of the first one's wait.
  void request_joined(int target, uint64_t bytes) {
    if (request_.target == target) request_.add(bytes);
  }
  // A wait or a test of it alone took so long, and has completed it or has not; 0: it was completed
  // otherwise. No target where nothing was measured.
  Result request_waited(uint64_t number, uint64_t ticks, bool complete);
  void drop_request() { request_ = Measured(); }

  // Takes a result. `judge`: sizes may be found to be cheap.
  void learn(const Result& result, bool far, bool judge);
  bool cheap(bool far, uint64_t bytes) const {
    return (cheap_sizes_[far] >> CostModel::class_of(bytes) & 1) != 0;
  }
  // Is it known that most small ones, of whatever size, cost so much that a longer get is hardly
  // dearer, and a hit within one, which takes longer than others, still pays?
  bool latency_rules(bool far) const { return small_[far].latency_rules; }
  // Were enough of this size measured?
  bool judged(bool far, uint64_t bytes) const {
    return costs_[far].samples_of(bytes) >= samples_to_judge;
  }
  // Is it known that hardly any of them cost so much?
  bool nearly_cheap(bool far, uint64_t bytes) const {
    return (nearly_cheap_[far] >> CostModel::class_of(bytes) & 1) != 0;
  }
  // Of the far targets, or where there are no samples of those, of the near.
  const CostModel& costs() const { return costs_[1].samples() > 0 ? costs_[1] : costs_[0]; }

 private:
  // of a size, before it may be called cheap, or dear
  static constexpr uint32_t samples_to_judge = 16;
  struct Measured {
    int target = -1;
    uint64_t bytes = 0, gets = 0, ticks = 0;
    void add(uint64_t more) { bytes += more, ++gets; }
    Result result() const;
  };
  bool due();
  uint64_t begin_measured(Targets targets);

  // What every miss looks at comes first.
  uint64_t cheap_sizes_[2] = {0, 0};  // bit per power of two; near, far
  struct Small {
    bool latency_rules = false;
    uint32_t samples = 0;
    float dear = 0;  // share of the last ones
  };
  Small small_[2];
  uint64_t nearly_cheap_[2] = {0, 0};
  uint32_t until_miss_ = 1;
  uint32_t until_passed_ = 1 << 16;
  Measured gets_, request_;
  uint64_t requests_ = 0;         // that were measured, or are
  uint32_t requests_passed_ = 0;  // Rgets that were due since, while it is not waited for
  uint32_t taken_ = 0;
  CostModel costs_[2];
  float dear_[2][CostModel::size_classes] = {};  // share of the last ones that cost much
};

}  // namespace nearcache::mpi
