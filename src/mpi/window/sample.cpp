// What gets cost, measured on a few of them: the get itself plus its share of the synchronisation that completes it.
// Where that is no more than a hit would cost, caching cannot gain and gets are passed (design, "do no harm").
#include "mpi/window/sample_clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

constexpr uint32_t samples_at_first = 64;  // every get is measured until so many are
constexpr uint32_t sample_every = 32;      // then every so many misses
constexpr uint32_t samples_to_judge = 16;  // of a size, before it may be called cheap

// A hit, its synchronisation and its copy; twice, since a miss costs bookkeeping that only hits earn back.
double worthless_below_ns(uint64_t bytes) { return 2 * (35 + 0.08 * static_cast<double>(bytes)); }

}  // namespace

bool Window::sample_is_due(uint32_t target) {
  if (--until_sample_ > 0) return false;
  until_sample_ = ++samples_taken_ < samples_at_first ? 1 : sample_every;
  // Another target's outstanding operations would be counted for this one's.
  return sample_.target < 0 && !epochs_.outstanding(target);
}

// In mode transparent only repeats inside an epoch can be served. A program without any must not pay for the search:
// after a span in which fewer than one get in 64 was one, most gets pass, and short spans look again.
bool Window::dormant() {
  constexpr uint32_t first_span = 1024, short_span = 64, pause = 4096;
  Dormancy& now = dormancy_;
  if (now.dormant_gets > 0) {
    --now.dormant_gets;
    return true;
  }
  if (++now.awake_gets <= now.awake_span) return false;
  const uint64_t hits = counters_.hits_pending + counters_.hits_partial;
  const bool repeats = (hits - now.hits_then) * 64 >= now.awake_span;
  now.hits_then = hits;
  now.awake_gets = 0;
  now.awake_span = repeats ? first_span : short_span;
  now.dormant_gets = repeats ? 0 : pause;
  return !repeats;
}

void Window::sample_issued(int target, uint64_t bytes, uint64_t ticks) {
  if (sample_.target >= 0 && sample_.target != target) return;
  sample_.target = target;
  sample_.bytes += bytes;
  sample_.gets += 1;
  sample_.ticks += ticks;
}

void Window::end_sample(const Completion& completion) {
  if (completion.started == 0) return;
  const uint64_t ticks = sample_.ticks + (sample_ticks() - completion.started);
  const bool far = is_far(static_cast<uint32_t>(sample_.target));
  const uint64_t bytes = sample_.bytes / sample_.gets;
  const double ns = sample_ns(ticks) / static_cast<double>(sample_.gets);
  costs_[far].sample(bytes, ns);
  if (observed_) context.observer.cost(bytes, ns);
  sample_ = Sample();
  if (cache_ != nullptr && (far || costs_[1].samples() == 0)) cache_->set_costs(costs_[far].latency_ns(), costs_[far].ns_per_byte());
  judge_class(far, bytes);
}

void Window::judge_class(bool far, uint64_t bytes) {
  if (!options_.skip_cheap || costs_[far].samples_of(bytes) < samples_to_judge) return;
  const uint64_t bit = uint64_t{1} << CostModel::class_of(bytes);
  if (costs_[far].observed_ns(bytes) <= worthless_below_ns(bytes)) {
    cheap_sizes_[far] |= bit;
  } else if (costs_[far].observed_ns(bytes) > 2 * worthless_below_ns(bytes)) {
    cheap_sizes_[far] &= ~bit;
  }
}

}  // namespace nearcache::mpi
