// SPDX-License-Identifier: BSD-3-Clause

// Measures the cost of a window's remote gets on a sample of them: the get itself plus its share of
// the synchronisation that completes it, or of the wait for its request. Gets that are completed
// together with a measured one count as if they had taken as long to issue. If a get costs no more
// than a hit would, caching cannot gain, and gets bypass the cache
// (docs/semantics.md, "What is bypassed").
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/get/cost_model.h"
#include "cache/get/targets.h"

namespace nearcache::mpi {

// Has at most one measurement in progress of gets at one target, and one of a get with a request.
// Near and far targets are judged separately.
class CostSampling {
 public:
  // Returns true if this miss should be measured. `alone`: nothing is outstanding at its target
  // that would be charged to it.
  bool miss_is_due(int target, bool alone);
  // Like miss_is_due(), but for an Rget. Its wait completes nothing else, so other outstanding
  // operations do not matter.
  bool request_miss_is_due();
  // Gets that bypass the cache are measured now and then, since a target that is cheap now may not
  // stay so.
  bool passed_is_due(uint32_t every, bool request);
  // Accounts for `gets` gets that bypassed the cache without passed_is_due() being asked. The first
  // ones after them find code cold, and are not measured.
  void passed(uint32_t gets) {
    until_passed_ = std::max(until_passed_ - std::min(gets, until_passed_),
                             std::min(until_passed_, passed_until_warm));
  }
  bool idle() const { return gets_.target < 0; }
  bool request_idle() const { return request_.target < 0; }

  // A measured get took `ticks` to issue.
  void issued(int target, uint64_t bytes, uint64_t ticks);
  // Gets that are completed together with a measured one share the cost of its synchronisation.
  void joined(int target, uint64_t bytes) {
    if (gets_.target == target) gets_.add(bytes);
  }
  // Drops the measurement at this target: its synchronisation would also complete the write.
  void write_begins(int target) {
    if (gets_.target == target) drop();
  }
  void drop() { gets_ = Measured(); }

  // Called before and after a synchronisation. sync_begins() returns the start time if the
  // synchronisation is measured, else 0.
  uint64_t sync_begins(Targets targets) {
    // its wait will find nothing left to do
    if (!request_idle() && targets.cover(static_cast<uint32_t>(request_.target))) drop_request();
    return idle() ? 0 : begin_measured(targets);
  }
  struct Result {
    uint64_t bytes = 0;  // mean per get
    double ns = 0;
    int target = -1;
    uint32_t samples = 1;  // gets whose issue was measured
    double others_ns = 0;  // the part of the synchronisation that other gets account for
  };
  // `ends_epoch`: it is called whether or not its gets have been served.
  Result sync_ends(uint64_t began, bool ends_epoch = false);

  // A measured Rget took `ticks` to issue. Returns the sample number to pass to request_waited().
  uint64_t request_issued(int target, uint64_t bytes, uint64_t ticks);
  // Rgets in flight at the same time share the cost of the first one's wait.
  void request_joined(int target, uint64_t bytes) {
    if (request_.target == target) request_.add(bytes);
  }
  // A wait or test of this request alone took `ticks`; `complete` says whether it completed the
  // request. 0 ticks: the request was completed in some other way. The result's target is negative
  // if nothing was measured.
  Result request_waited(uint64_t number, uint64_t ticks, bool complete);
  void drop_request() { request_ = Measured(); }

  // Records a result. `judge`: sizes may be classified as cheap.
  void learn(const Result& result, bool far, bool judge);
  // A long series of gets took `ns` each, with what the program did in between. Returns true if
  // that makes this size cheap, which it was not. Some of them may have been from this rank, or had
  // no target: one from another rank must have been measured that was as cheap.
  bool learn_most(double ns, bool far, uint64_t bytes);
  bool cheap(bool far, uint64_t bytes) const {
    return (cheap_sizes_[far] >> CostModel::class_of(bytes) & 1) != 0;
  }
  // Returns true if small gets, of whatever size, are known mostly to cost so much that a longer
  // get is hardly dearer, and that a hit on part of a longer entry, which takes longer than other
  // hits, still pays.
  bool latency_rules(bool far) const { return small_[far].latency_rules; }
  // Returns true if gets, of whatever size, are known mostly to cost less, with the whole
  // synchronisation, than it takes to serve one under a lock that has not been taken.
  bool locks_cost_little(bool far) const {
    return quick_[far].samples >= samples_if_clear && quick_[far].share >= most_are;
  }
  // Returns true if enough gets of this size have been measured.
  bool judged(bool far, uint64_t bytes) const {
    return costs_[far].samples_of(bytes) >= samples_to_judge;
  }
  // Returns true if hardly any gets of this size are known to cost more than loads.
  bool nearly_cheap(bool far, uint64_t bytes) const {
    return (nearly_cheap_[far] >> CostModel::class_of(bytes) & 1) != 0;
  }
  double observed_ns(bool far, uint64_t bytes) const { return costs_[far].observed_ns(bytes); }
  // The costs at far targets or, if there are no samples of those, at near ones.
  const CostModel& costs() const { return costs_[1].samples() > 0 ? costs_[1] : costs_[0]; }

 private:
  // samples of a size needed before it may be called cheap, or dear; and if they show that a get
  // costs no more than half a hit
  static constexpr uint32_t samples_to_judge = 16, samples_if_clear = 4;
  static constexpr float most_are = 0.7f, few_are = 0.3f;
  static constexpr uint32_t passed_until_warm = 32;
  struct Measured {
    int target = -1;
    uint64_t bytes = 0, gets = 0;
    uint64_t to_issue = 0, to_complete = 0;  // ticks: of the measured ones, and of all
    uint32_t issues = 0;                     // measured ones
    void add(uint64_t more) { bytes += more, ++gets; }
    Result result(bool waits = true) const;
  };
  bool due(bool possible);
  uint64_t begin_measured(Targets targets);

  // What every miss reads comes first.
  uint64_t cheap_sizes_[2] = {0, 0};  // one bit per power of two; near, far
  // The running share of recent samples that have some property.
  struct Share {
    uint32_t samples = 0;  // at most samples_to_judge
    float share = 0;
    void add(bool has) {
      samples = std::min(samples + 1, samples_to_judge);
      share += ((has ? 1.0f : 0.0f) - share) / static_cast<float>(samples);
    }
  };
  struct Small {
    bool latency_rules = false;
    Share dear;
  };
  Small small_[2];
  uint64_t nearly_cheap_[2] = {0, 0};
  uint32_t until_miss_ = 1;
  uint32_t until_passed_ = 1 << 16;
  Share quick_[2];
  Measured gets_, request_;
  uint64_t requests_ = 0;         // number of requests measured so far
  uint32_t requests_passed_ = 0;  // Rgets due while a measured one was not waited for
  uint32_t taken_ = 0;
  CostModel costs_[2];
  float dear_[2][CostModel::size_classes] = {};  // running share of expensive samples
  // of samples at which caching cannot gain, or surely does
  Share within_limit_[2][CostModel::size_classes], beyond_limit_[2][CostModel::size_classes];
};

}  // namespace nearcache::mpi
