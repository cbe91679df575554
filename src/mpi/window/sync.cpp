// SPDX-License-Identifier: BSD-3-Clause

// Synchronisation of a window, and its own writes: what they mean to the cache, and what of them is
// measured.
#include <algorithm>
#include <climits>

#include "mpi/process/next.h"
#include "mpi/rma/host_turns.h"
#include "mpi/rma/layer.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

Window::Completion Window::begin_sync(Targets targets, bool local, bool ends_epoch) {
  ++counters_.syncs_passed;
  return {cached_.begin_sync(targets, local), sampling_.sync_begins(targets), ends_epoch};
}

bool Window::is_over_in_spite_of(int rc) const {
  return identity_.by_engine && rma_has_completed(rc);
}

void Window::end_sync(const Completion& completion, int rc) {
  const bool succeeded = rc == MPI_SUCCESS, over = is_over(rc);
  if (!succeeded) sampling_.drop();
  if (completion.began == 0) return cached_.end_sync(completion.cached, succeeded, over);
  // measured before data is stored
  const CostSampling::Result result = sampling_.sync_ends(completion.began, completion.ends_epoch);
  cached_.end_sync(completion.cached, succeeded, over);
  learn_cost(result);
}

void Window::request_waited(uint64_t sample, uint64_t ticks, bool complete) {
  learn_cost(sampling_.request_waited(sample, ticks, complete));
}

void Window::learn_cost(const CostSampling::Result& result) {
  if (result.target < 0) return;
  const bool far = is_far(static_cast<uint32_t>(result.target));
  const bool were_cheap = sampling_.cheap(far, result.bytes);
  for (uint32_t i = 0; i < result.samples; ++i) sampling_.learn(result, far, skip_cheap_);
  if (!were_cheap && sampling_.cheap(far, result.bytes)) gets_turned_cheap();
  if (sampling_.judged(far, result.bytes)) {
    nearly_cheap_[far] = sampling_.nearly_cheap(far, result.bytes);
    hits_wanted_[far] = Dormancy::hits_on_a_miss(sampling_.observed_ns(far, result.bytes));
  }
  if (observed_) context.observer.cost(result.bytes, result.ns);
  tell_costs();
}

// What is cached already would go on being served, which takes longer than to fetch it.
void Window::gets_turned_cheap() {
  if (cached_.cache() != nullptr && !cached_.cache()->empty()) invalidate();
}

bool Window::may_defer_lock(int rank) {
  const WindowLock lock(mutex_);
  if (!caching() || pause_.on() || !may_defer_locks_ || !context.progress.available() ||
      cached_.cache() == nullptr || !valid_target(rank) || rank == identity_.rank)
    return false;
  // There is nothing to gain, and a window with a deferred lock could not pause.
  if (pause_.gets_bypass()) return false;
  if (sampling_.locks_cost_little(is_far(static_cast<uint32_t>(rank)))) return false;
  return !epochs().open(static_cast<uint32_t>(rank)) && (!transparent_ || context.phases.quiet());
}

void Window::defer_lock(int rank, int assert) {
  deferred_.defer(*this, static_cast<uint32_t>(rank), assert);
  const WindowLock lock(mutex_);
  epochs().lock(static_cast<uint32_t>(rank), false, true);
}

// The engine's agent needs no calls: only the host's messages do, like those of a program that
// calls nothing but the engine.
void Window::call_for_progress() {
  if (!identity_.by_engine) {
    context.progress.call();
  } else {
    if (!host_turns.look()) return;
    rma_host_is_called();  // sends what the engine holds: others may wait for it
  }
  const WindowLock lock(mutex_);
  ++counters_.progress_calls;
}

void Window::request_completed(uint32_t record, uint64_t serial, bool succeeded) {
  if (!cached_.is_of(record, serial)) return;
  if (observed_) observe_sync(TraceSync::request, Targets::one(cached_.target_of(record)));
  cached_.request_completed(record, serial, succeeded);
}

Window::Write Window::describe_write(int target, MPI_Aint displacement, MPI_Count count,
                                     MPI_Datatype type) const {
  Write write{targets(target)};
  const bool matters = coherent_ != nullptr || observed_ || (caching() && !pause_.on());
  if (!matters) return write;
  const Layout* layout = count >= 0 ? layout_of(type) : nullptr;
  int64_t start = 0;
  if (layout == nullptr || identity_.unit == 0 ||
      __builtin_mul_overflow(static_cast<int64_t>(displacement), identity_.unit, &start))
    return write;
  const Elements elements{layout, static_cast<uint64_t>(count)};
  int64_t from = start, to = start;
  bool too_far = false;
  if (layout->size == 0 || count == 0) {  // nothing
  } else if (layout->dense) {             // most writes: words and rows
    int64_t bytes = 0;
    too_far = __builtin_mul_overflow(static_cast<int64_t>(layout->size), count, &bytes) ||
              __builtin_add_overflow(start, layout->true_lb, &from) ||
              __builtin_add_overflow(from, bytes, &to);
  } else {
    too_far = __builtin_add_overflow(start, elements.lowest(), &from) ||
              __builtin_add_overflow(start, elements.highest(), &to);
  }
  if (!too_far) write.from = from, write.to = to;
  return write;
}

}  // namespace nearcache::mpi
