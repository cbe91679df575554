// Synchronisation of a window, and its own writes: what they mean to the cache, and what of them is measured.
#include <algorithm>
#include <climits>

#include "mpi/process/next.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

Window::Completion Window::begin_sync(Targets targets, bool local) {
  ++counters_.syncs_passed;
  return {cached_.begin_sync(targets, local), sampling_.sync_begins(targets)};
}

void Window::end_sync(const Completion& completion, bool succeeded) {
  if (!succeeded) sampling_.drop();
  if (completion.began == 0) return cached_.end_sync(completion.cached, succeeded);
  const CostSampling::Result result = sampling_.sync_ends(completion.began);  // before data is stored
  cached_.end_sync(completion.cached, succeeded);
  learn_cost(result);
}

void Window::request_waited(uint64_t sample, uint64_t ticks, bool complete) { learn_cost(sampling_.request_waited(sample, ticks, complete)); }

void Window::learn_cost(const CostSampling::Result& result) {
  if (result.target < 0) return;
  const bool far = is_far(static_cast<uint32_t>(result.target));
  sampling_.learn(result, far, skip_cheap_);
  nearly_cheap_ = sampling_.nearly_cheap(far, result.bytes);
  if (observed_) context.observer.cost(result.bytes, result.ns);
  tell_costs();
}

// MPI may take a lock as late as the first operation of its epoch, so one that has no operation needs none. But nobody else's exclusive epoch may come
// between its gets: modes always and user have a promise; in transparent what is served is remembered until it is known that none did.
bool Window::may_defer_lock(int rank) const {
  if (!caching() || pause_.on() || context.threaded || !context.progress.available() || cached_.cache() == nullptr || !valid_target(rank) || rank == identity_.rank)
    return false;
  return !epochs().open(static_cast<uint32_t>(rank)) && (!transparent_ || context.phases.quiet());
}

void Window::defer_lock(int rank, int assert) {
  epochs().lock(static_cast<uint32_t>(rank), false);
  deferred_.push_back({static_cast<uint32_t>(rank), assert, false});
}

int Window::take_locks(Targets targets) {
  int rc = MPI_SUCCESS;
  for (DeferredLock& lock : deferred_) {
    if (lock.taken || !targets.cover(lock.target)) continue;
    lock.taken = true;
    ++counters_.syncs_passed;
    if (const int its = next.Win_lock(MPI_LOCK_SHARED, static_cast<int>(lock.target), lock.assert, handle_); its != MPI_SUCCESS) rc = its;
  }
  if (!transparent_) std::erase_if(deferred_, [](const DeferredLock& lock) { return lock.taken; });
  return rc;
}

int Window::issue_again(const GetCall& get) {
  epochs().get_issued(static_cast<uint32_t>(get.target));
  return next.Get(get.origin, static_cast<int>(get.origin_count), get.origin_type, get.target, get.displacement, static_cast<int>(get.target_count),
                  get.target_type, handle_);
}

// That the lock is held is certain once an operation under it is complete. Who wrote before that has told of it by then; nobody writes after.
int Window::confirm_served(Targets targets) {
  int rc = take_locks(targets);
  for (size_t i = 0; i < deferred_.size() && rc == MPI_SUCCESS;) {
    const uint32_t target = deferred_[i].target;
    const auto is_its = [target](const GetCall& get) { return static_cast<uint32_t>(get.target) == target; };
    if (!targets.cover(target)) {
      ++i;
      continue;
    }
    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
    const auto first = std::ranges::find_if(served_, is_its);
    if (first == served_.end()) continue;
    if (!epochs().gets_noted(target)) rc = issue_again(*first);
    if (rc == MPI_SUCCESS) rc = next.Win_flush(static_cast<int>(target), handle_);
    for (const GetCall& get : served_) {
      if (rc == MPI_SUCCESS && is_its(get) && !context.phases.quiet()) rc = issue_again(get);
    }
    std::erase_if(served_, is_its);
  }
  return rc;
}

bool Window::drop_lock(Targets target) {
  if (!target.is_one()) return false;
  const auto lock = std::ranges::find(deferred_, target.rank(), &DeferredLock::target);
  if (lock == deferred_.end() || lock->taken || (transparent_ && !context.phases.quiet())) return false;
  epochs().unlock(lock->target);
  std::erase_if(served_, [&](const GetCall& get) { return static_cast<uint32_t>(get.target) == lock->target; });
  deferred_.erase(lock);
  syncs_served_ += 2;
  return true;
}

bool Window::lock_is_deferred(uint32_t target) const {
  return std::ranges::find(deferred_, target, &DeferredLock::target) != deferred_.end();
}

void Window::call_for_progress() {
  context.progress.call();
  const WindowLock lock(mutex_);
  ++counters_.progress_calls;
}

void Window::request_completed(uint32_t record, uint64_t serial, bool succeeded) {
  if (!cached_.is_of(record, serial)) return;
  if (observed_) observe_sync(TraceSync::request, Targets::one(cached_.target_of(record)));
  cached_.request_completed(record, serial, succeeded);
}

void Window::write_begins(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  if (!valid_target(target)) return;
  sampling_.write_begins(target);
  int64_t from = 0, to = 0;
  if (!range_of(displacement, count, type, &from, &to)) from = INT64_MIN, to = INT64_MAX;
  cached_.write_begins(static_cast<uint32_t>(target), from, to);
}

bool Window::range_of(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int64_t* from, int64_t* to) const {
  const Layout* layout = count >= 0 ? layout_of(type) : nullptr;
  int64_t start = 0;
  if (layout == nullptr || identity_.unit == 0 ||
      __builtin_mul_overflow(static_cast<int64_t>(displacement), identity_.unit, &start))
    return false;
  const Elements elements{layout, static_cast<uint64_t>(count)};
  *from = *to = start;
  if (layout->size == 0 || count == 0) return true;
  return !__builtin_add_overflow(start, elements.lowest(), from) && !__builtin_add_overflow(start, elements.highest(), to);
}

}  // namespace nearcache::mpi
