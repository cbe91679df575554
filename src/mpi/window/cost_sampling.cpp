#include "mpi/window/cost_sampling.h"

#include "mpi/window/sample_clock.h"

namespace nearcache::mpi {
namespace {

constexpr uint32_t samples_at_first = 64;  // every get is measured until so many are
constexpr uint32_t sample_every = 32;      // then every so many misses
constexpr uint32_t samples_to_judge = 16;  // of a size, before it may be called cheap

// A hit, its synchronisation and its copy; twice, since a miss costs bookkeeping that only hits earn back.
double worthless_below_ns(uint64_t bytes) { return 2 * (35 + 0.08 * static_cast<double>(bytes)); }

}  // namespace

bool CostSampling::miss_is_due(bool alone) {
  if (--until_miss_ > 0) return false;
  until_miss_ = ++taken_ < samples_at_first ? 1 : sample_every;
  return idle() && alone;
}

bool CostSampling::passed_is_due(uint32_t every) {
  if (--until_passed_ > 0) return false;
  until_passed_ = every;
  return idle();
}

void CostSampling::issued(int target, uint64_t bytes, uint64_t ticks) {
  if (target_ >= 0 && target_ != target) return;
  target_ = target;
  bytes_ += bytes;
  gets_ += 1;
  ticks_ += ticks;
}

uint64_t CostSampling::begin_measured(Targets targets) {
  if (targets.cover(static_cast<uint32_t>(target_))) return sample_ticks();
  drop();
  return 0;
}

CostSampling::Result CostSampling::sync_ends(uint64_t began) {
  if (began == 0 || idle()) return {};
  const uint64_t ticks = ticks_ + (sample_ticks() - began);
  const Result result{bytes_ / gets_, sample_ns(ticks) / static_cast<double>(gets_), target_};
  drop();
  return result;
}

void CostSampling::learn(const Result& result, bool far, bool judge) {
  CostModel& costs = costs_[far];
  costs.sample(result.bytes, result.ns);
  if (!judge || costs.samples_of(result.bytes) < samples_to_judge) return;
  const uint64_t bit = uint64_t{1} << CostModel::class_of(result.bytes);
  if (costs.observed_ns(result.bytes) <= worthless_below_ns(result.bytes)) {
    cheap_sizes_[far] |= bit;
  } else if (costs.observed_ns(result.bytes) > 2 * worthless_below_ns(result.bytes)) {
    cheap_sizes_[far] &= ~bit;
  }
}

}  // namespace nearcache::mpi
