// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/cost_sampling.h"

#include <algorithm>

#include "cache/get/lines.h"
#include "mpi/window/sample_clock.h"

namespace nearcache::mpi {
namespace {

constexpr uint32_t samples_at_first = 64;  // the first this many due gets are all measured
constexpr uint32_t sample_every = 32;      // then one in this many misses
constexpr uint32_t most_issues = 4;        // measured between two synchronisations

// Twice the cost of a hit, because a miss costs bookkeeping that only hits earn back.
double worthless_below_ns(uint64_t bytes) { return 2 * least_hit_cost.cost_ns(bytes); }

// The most that gets executed as loads cost, near and far. Near ones may take 600 ns when measured
// on memory that is new to the processor. Gets from another node are not loads: networks start at
// 800 ns.
constexpr double most_of_loads_ns[] = {1000, 400};
// Above this, a get of a whole line costs hardly more than a short one. A longer get does cost
// more.
constexpr double worth_a_line_ns = 1000;
// If a series of gets takes no more than so many times as long as hits at their best, hits are no
// quicker: the processor may be slower than the one these were measured on, and the program may do
// something between its gets.
constexpr double most_of_a_series = 1.25;
// What is served under a deferred lock costs this much in all: the lock, the get, the unlock.
constexpr double deferring_ns = 200;

}  // namespace

// A miss that is due but cannot be measured leaves its turn to the next one. If it used it up, a
// program with a multiple of `sample_every` gets between two synchronisations might never be
// measured, as it would be the turn of the same ones each time, which are not alone.
bool CostSampling::due(bool possible) {
  if (until_miss_ > 1 || !possible) {
    until_miss_ -= until_miss_ > 1 ? 1 : 0;
    return false;
  }
  until_miss_ = ++taken_ < samples_at_first ? 1 : sample_every;
  return true;
}

// At first, the issue of some more gets is measured that are completed together with a measured
// one: a program that completes many at a time would wait long for its judgement.
bool CostSampling::miss_is_due(int target, bool alone) {
  if (gets_.target == target && gets_.issues < most_issues && taken_ < samples_at_first) {
    ++taken_;
    return true;
  }
  return due(alone && idle());
}

// A program need not wait for a request at all: it may leave its completion to the end of the
// epoch.
bool CostSampling::request_miss_is_due() {
  return due(true) && (request_idle() || ++requests_passed_ > samples_to_judge);
}

bool CostSampling::passed_is_due(uint32_t every, bool request) {
  if (--until_passed_ > 0) return false;
  until_passed_ = every;
  return request ? request_idle() : idle();
}

void CostSampling::issued(int target, uint64_t bytes, uint64_t ticks) {
  if (idle()) gets_.target = target;
  if (gets_.target != target) return;
  gets_.add(bytes);
  gets_.to_issue += ticks;
  ++gets_.issues;
}

uint64_t CostSampling::request_issued(int target, uint64_t bytes, uint64_t ticks) {
  request_ = {.target = target, .bytes = bytes, .gets = 1, .to_issue = ticks, .issues = 1};
  requests_passed_ = 0;
  return ++requests_;
}

CostSampling::Result CostSampling::request_waited(uint64_t number, uint64_t ticks, bool complete) {
  if (number != requests_ || request_idle()) return {};
  request_.to_complete += ticks;
  if (!complete) return {};
  const Result result = ticks != 0 ? request_.result() : Result();
  drop_request();
  return result;
}

// `waits`: its synchronisation, or its wait for a request, would have been saved.
CostSampling::Result CostSampling::Measured::result(bool waits) const {
  const double all_ns = sample_ns(to_complete);
  const double its_ns = waits ? all_ns / static_cast<double>(gets) : 0;
  return {bytes / gets, sample_ns(to_issue, issues) / issues + its_ns, target, issues,
          all_ns - its_ns};
}

uint64_t CostSampling::begin_measured(Targets targets) {
  if (targets.cover(static_cast<uint32_t>(gets_.target))) return sample_ticks();
  drop();
  return 0;
}

// If it takes so little, it hardly waits for the gets.
CostSampling::Result CostSampling::sync_ends(uint64_t began, bool ends_epoch) {
  if (began == 0 || idle()) return {};
  gets_.to_complete = sample_ticks() - began;
  const Result result = gets_.result(!ends_epoch || sample_ns(gets_.to_complete) >= deferring_ns);
  drop();
  return result;
}

void CostSampling::learn(const Result& result, bool far, bool judge) {
  CostModel& costs = costs_[far];
  costs.sample(result.bytes, result.ns);
  const int size = CostModel::class_of(result.bytes);
  const float is_dear = result.ns > most_of_loads_ns[far] ? 1 : 0;
  float& dear = dear_[far][size];
  dear += (is_dear - dear) /
          static_cast<float>(std::min(costs.samples_of(result.bytes), samples_to_judge));
  if (judge) quick_[far].add(result.ns + result.others_ns < deferring_ns);
  if (judge && result.bytes <= Lines::longest) {
    Small& small = small_[far];
    small.dear.add(result.ns > worth_a_line_ns);
    small.latency_rules = small.dear.samples == samples_to_judge && small.dear.share >= most_are;
  }
  if (!judge) return;
  // Shares rather than the mean, in which the first gets, which find code and memory cold, would
  // count for long.
  const double limit = worthless_below_ns(result.bytes);
  Share& within = within_limit_[far][size];
  Share& beyond = beyond_limit_[far][size];
  within.add(result.ns <= limit);
  beyond.add(result.ns > 2 * limit);
  if (within.samples < samples_if_clear) return;
  const uint64_t bit = uint64_t{1} << size;
  if (judged(far, result.bytes))
    nearly_cheap_[far] = dear <= few_are ? nearly_cheap_[far] | bit : nearly_cheap_[far] & ~bit;
  const bool may_judge = within.samples == samples_to_judge;
  if (may_judge ? within.share >= most_are : costs.observed_ns(result.bytes) <= limit / 4) {
    // a shorter one costs no more, whatever it cost when last measured
    cheap_sizes_[far] |= bit | (bit - 1);
  } else if (beyond.share >= most_are) {
    cheap_sizes_[far] &= ~bit;
  }
}

bool CostSampling::learn_most(double ns, bool far, uint64_t bytes) {
  const CostModel& costs = costs_[far];
  if (cheap(far, bytes)) {  // and remains so, whatever single ones seemed to take
    if (ns <= 2 * worthless_below_ns(bytes))
      beyond_limit_[far][CostModel::class_of(bytes)].share = 0;
    return false;
  }
  if (ns > most_of_a_series * least_hit_cost.cost_ns(bytes) || costs.samples_of(bytes) == 0 ||
      costs.least_ns(bytes) > worthless_below_ns(bytes))
    return false;
  const int size = CostModel::class_of(bytes);
  within_limit_[far][size] = {samples_to_judge, 1};
  beyond_limit_[far][size] = {samples_to_judge, 0};
  // a shorter one costs no more
  cheap_sizes_[far] |= (uint64_t{2} << size) - 1;
  return true;
}

}  // namespace nearcache::mpi
