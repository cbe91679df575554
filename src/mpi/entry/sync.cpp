// SPDX-License-Identifier: BSD-3-Clause

// Synchronisation: passed to MPI, or answered here if nothing is outstanding; then the mode's rule
// is applied (see the table in docs/semantics.md).
#include "mpi/entry/hooks.h"
#include "mpi/mpi_api.h"
#include "mpi/process/group_ranks.h"
#include "mpi/process/next.h"
#include "mpi/rma/straight.h"
#include "mpi/window/plain_hit.h"

namespace nearcache::mpi {
namespace {

// A synchronisation of this kind completes own writes at the origin only.
constexpr bool is_local(TraceSync kind) { return kind == TraceSync::flush_local; }
constexpr bool is_flush(TraceSync kind) { return kind == TraceSync::flush || is_local(kind); }

// Makes the call. With a trace, checks this rank's memory for stores before and after, since others
// may learn by the call what was written there. A flush concerns only others' memory.
template <class Call>
int passed_down(TraceSync kind, Call call) {
  if (is_flush(kind)) return call();
  context.observer.note_own_writes();
  const int rc = call();
  context.observer.note_own_writes();
  return rc;
}

constexpr auto nothing = [](Window&, Targets) {};

// What a call tells about other ranks: possibly something; only that earlier events, such as
// others' exclusive epochs, precede what is read next; or only that own operations are complete.
enum class Learns : uint8_t { perhaps, order, no_more };

[[gnu::always_inline]] inline void note(Learns learns) {
  switch (learns) {
    case Learns::perhaps:
      return context.acquire();
    case Learns::order:
      return context.locked();
    case Learns::no_more:
      return context.completed();
  }
}

// For a call that completes what is outstanding. Own writes also come before later gets from memory
// that another window shares. With the window's lock.
[[gnu::always_inline]] inline Learns told_by_completing(Window& window) {
  if (window.may_complete_fetches() && window.completes_fetches()) return Learns::perhaps;
  if (!context.windows_may_overlap()) return Learns::no_more;
  return window.writes_may_be_outstanding() ? Learns::order : Learns::no_more;
}
Learns learns_by_completing(Window& window) {
  const WindowLock lock(window.mutex());
  return told_by_completing(window);
}

// With the window's lock.
void locks_are_held(Window& window, Targets targets) {
  if (window.locks_deferred()) [[unlikely]]
    window.deferred().completed(window, targets);
}

// Such a call on a window that is paused, for which nothing is noted but epochs and the targets of
// writes.
template <class Call, class After>
[[gnu::always_inline]] inline int unnoted_completing(Window& window, Targets targets,
                                                     TraceSync kind, Call call, After after) {
  window.flush_passed();
  const Learns learns = told_by_completing(window);
  const int rc = call();
  if (rc == MPI_SUCCESS && !is_local(kind)) window.completed_unnoted(targets);
  if (window.is_over(rc)) after();
  note(learns);
  return rc;
}

// A call that completes operations on targets, which `targets_of(window)` says. `after` runs under
// the lock once MPI has completed them. A rank that is no target (MPI_PROC_NULL, or a wrong one) is
// MPI's affair alone; the call counts as an acquire all the same. `failed`: the error of an
// operation that has failed already.
template <class TargetsOf, class Call, class After>
int completing(MPI_Win handle, TargetsOf targets_of, TraceSync kind, Learns learns, Call call,
               After after, int failed = MPI_SUCCESS) {
  Window* window = find_window(handle);
  if (window == nullptr) {
    const int rc = passed_down(kind, call);
    context.acquire();
    return rc;
  }
  if (learns == Learns::no_more && window->paused()) {
    const Targets targets = targets_of(*window);
    return unnoted_completing(*window, targets, kind, call, [&] { after(*window, targets); });
  }
  // MPI_Win_complete does not mean that a put has arrived: this rank's next epoch comes after it,
  // but not what another rank fetches into a cache that they share.
  const bool local = is_local(kind) || (kind == TraceSync::complete && window->shares());
  context.progress.called();
  const Targets targets = targets_of(*window);
  if (window->locks_deferred()) [[unlikely]] {
    const int rc = window->confirm_served(targets);
    if (!window->is_over(rc)) return rc;
    if (rc != MPI_SUCCESS) failed = rc;
  }
  const auto pass_down = [&] {
    const int rc = passed_down(kind, call);
    return rc == MPI_SUCCESS ? failed : rc;
  };
  if (learns == Learns::no_more) learns = learns_by_completing(*window);
  if (!context.threaded && window->nothing_to_complete()) {
    const int rc = pass_down();
    window->synced(targets, local, window->is_over(rc));
    if (window->observed()) window->observe_sync(kind, targets);
    locks_are_held(*window, targets);
    if (window->is_over(rc)) after(*window, targets);
    note(learns);
    return rc;
  }
  WindowLock lock(window->mutex());
  const Window::Completion completion = window->begin_sync(targets, local, !is_flush(kind));
  lock.unlock();
  const int rc = pass_down();
  WindowLock again(window->mutex());
  window->end_sync(completion, rc);
  if (window->observed()) window->observe_sync(kind, targets);
  locks_are_held(*window, targets);
  if (window->is_over(rc)) after(*window, targets);
  again.unlock();
  note(learns);
  return rc;
}

// A flush need not be passed down if nothing at all is outstanding, in an epoch known to be open.
template <class TargetsOf, class Call>
[[gnu::noinline]] int noted_flush(MPI_Win handle, Window* window, TargetsOf targets_of,
                                  TraceSync kind, Call call) {
  if (window != nullptr && window->caching()) {
    const Targets targets = targets_of(*window);
    if (window->locks_deferred() && nearcache::ends_at_acquires(window->mode())) [[unlikely]] {
      const int rc = window->confirm_served(targets);
      if (!window->is_over(rc)) return rc;
      if (rc != MPI_SUCCESS)
        return completing(handle, targets_of, kind, Learns::no_more, call, nothing, rc);
    }
    WindowLock lock(window->mutex());
    if (window->may_serve_flush(targets)) {
      window->flush_served();
      if (window->observed()) window->observe_sync(kind, targets);
      lock.unlock();
      if (context.progress.served()) window->call_for_progress();
      context.completed();
      return MPI_SUCCESS;
    }
  }
  return completing(handle, targets_of, kind, Learns::no_more, call, nothing);
}

// Out of line is what a pause does not need, registers included.
template <class TargetsOf, class Call>
int flush(MPI_Win handle, TargetsOf targets_of, TraceSync kind, Call call) {
  Window* window = find_window(handle);
  if (window != nullptr && window->paused())
    return unnoted_completing(*window, targets_of(*window), kind, call, [] {});
  return noted_flush(handle, window, targets_of, kind, call);
}

// Makes a call that completes none of our operations, but opens or closes an epoch, or carries news
// of other ranks' accesses. MPI may do without progress in such a call (MPICH's MPI_Win_sync is a
// memory fence), so it does not count as one that makes some.
template <class TargetsOf, class Call, class After>
int opening(MPI_Win handle, TargetsOf targets_of, TraceSync kind, Learns learns, Call call,
            After after) {
  Window* window = find_window(handle);
  if (window != nullptr && window->locks_deferred()) [[unlikely]]
    window->confirm_served(Targets::all());  // whoever needs a lock that is refused here asks again
  const int rc = passed_down(kind, call);
  if (window != nullptr && rc == MPI_SUCCESS) {
    const WindowLock lock(window->mutex());
    const Targets targets = targets_of(*window);
    ++window->counters().syncs_passed;
    if (window->observed()) window->observe_sync(kind, targets);
    after(*window, targets);
  }
  note(window == nullptr ? Learns::perhaps : learns);
  return rc;
}

constexpr auto all = [](const Window&) { return Targets::all(); };

auto one(int rank) {
  return [rank](const Window& window) { return window.targets(rank); };
}

int defer_lock(Window& window, int rank, int assert) {
  window.defer_lock(rank, assert);
  if (window.observed()) window.observe_sync(TraceSync::lock, window.targets(rank));
  context.completed();
  return MPI_SUCCESS;
}

// Ends the epoch of a lock that was never taken.
int unlocked(Window& window, int rank) {
  if (window.observed()) window.observe_sync(TraceSync::unlock, window.targets(rank));
  if (context.progress.served()) window.call_for_progress();
  context.completed();
  return MPI_SUCCESS;
}

[[gnu::noinline]] int unnoted_flush(Window& window, int rank) {
  return unnoted_completing(
      window, window.targets(rank), TraceSync::flush,
      [&] { return next.Win_flush(rank, window.handle()); }, [] {});
}

// Out of line, so that a flush after a hit does not pay for the registers needed here.
[[gnu::noinline]] int slow_flush(int rank, MPI_Win win) {
  return flush(win, one(rank), TraceSync::flush, [&] { return next.Win_flush(rank, win); });
}

// What is to be done, if anything, once a flush has been served.
[[gnu::noinline]] int flush_was_served(Window& window, int rank, bool served_many) {
  if (window.observed()) window.tell_plain_flush(rank);
  if (served_many && context.progress.time_is_up()) window.call_for_progress();
  context.completed();
  return MPI_SUCCESS;
}

[[gnu::always_inline]] inline int flush_after_hit(Window& window, int rank) {
  if (!window.serves_plain_flush(rank)) return slow_flush(rank, window.handle());
  window.flush_served();
  const bool served_many = context.progress.served_many();
  if (served_many || window.observed() || context.completion_matters()) [[unlikely]]
    return flush_was_served(window, rank, served_many);
  return MPI_SUCCESS;
}

// The slow paths, for calls that do not go straight to the engine (mpi/rma/straight.h).

[[gnu::noinline]] int flush_in_pause(int rank, MPI_Win win) {
  if (straight_turns_to(win)) return MPI_Win_flush(rank, win);
  Window& window = *context.last_window;
  if (window.may_complete_fetches() || !context.learns_nothing())
    return unnoted_flush(window, rank);
  window.flush_passed();
  const int rc = next.Win_flush(rank, win);
  if (rc == MPI_SUCCESS) window.completed_unnoted(window.targets(rank));
  return rc;
}

[[gnu::noinline]] int flush_of_another(int rank, MPI_Win win) {
  return straight_turns_to(win) ? MPI_Win_flush(rank, win) : slow_flush(rank, win);
}

[[gnu::noinline]] int long_flush(int rank, MPI_Win win) {
  // The hot paths: a flush that follows a hit, and one that completes nothing of interest to
  // anybody, in a pause.
  Window* window = context.last_window;
  if (window == nullptr || window->handle() != win) return flush_of_another(rank, win);
  return window->paused() ? flush_in_pause(rank, win) : flush_after_hit(*window, rank);
}

// Gets from this rank are never served, so none in the epoch of its own lock can be older than the
// lock: it says no more than a load from this rank's memory.
Learns learns_by_lock(const Window* window, int lock_type, int rank) {
  if (lock_type == MPI_LOCK_EXCLUSIVE) return Learns::perhaps;
  return window != nullptr && rank == window->identity().rank ? Learns::no_more : Learns::order;
}

[[gnu::noinline]] int slow_lock(int lock_type, int rank, int assert, MPI_Win win) {
  const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  Window* window = find_window(win);
  if (exclusive) context.phases.locking();
  if (lock_type == MPI_LOCK_SHARED && window != nullptr && window->may_defer_lock(rank))
    return defer_lock(*window, rank, assert);
  take_waiting_locks();
  return opening(
      win, one(rank), TraceSync::lock, learns_by_lock(window, lock_type, rank),
      [&] { return next.Win_lock(lock_type, rank, assert, win); },
      [&](Window& its, Targets target) {
        if (target.is_one()) its.epochs().lock(target.rank(), exclusive);
      });
}

// What slow_lock() does for a window that passes_plainly().
int lock_in_pause(Window& window, int lock_type, int rank, int assert) {
  const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  if (exclusive) context.phases.locked();
  const int rc = next.Win_lock(lock_type, rank, assert, window.handle());
  if (rc == MPI_SUCCESS) {
    window.flush_passed();
    if (window.valid_target(rank)) window.epochs().lock(static_cast<uint32_t>(rank), exclusive);
  }
  note(learns_by_lock(&window, lock_type, rank));
  return rc;
}

[[gnu::noinline]] int long_lock(int lock_type, int rank, int assert, MPI_Win win) {
  if (straight_turns_to(win)) return MPI_Win_lock(lock_type, rank, assert, win);
  Window* window = context.last_window;
  if (passes_plainly(window, win) && !context.observer.wanted())
    return lock_in_pause(*window, lock_type, rank, assert);
  return slow_lock(lock_type, rank, assert, win);
}

[[gnu::noinline]] int slow_unlock(int rank, MPI_Win win) {
  Window* window = find_window(win);
  if (window != nullptr && window->locks_deferred() && window->drop_lock(window->targets(rank)))
    return unlocked(*window, rank);
  const bool exclusive = window != nullptr && window->valid_target(rank) &&
                         window->epochs().locked_exclusively(static_cast<uint32_t>(rank));
  if (exclusive || window == nullptr) {
    note_window_release();
  } else {  // a rank that waits for this lock may still know that this one has asked for others
    take_waiting_locks();
    context.coherence.attend();
  }
  if (exclusive || window == nullptr) context.phases.writing();
  const int rc = completing(
      win, one(rank), TraceSync::unlock, Learns::no_more,
      [&] { return next.Win_unlock(rank, win); },
      [](Window& its, Targets target) {
        if (!target.is_one()) return;
        its.epochs().unlock(target.rank());
        if (its.locks_deferred()) its.deferred().unlocked(target.rank());
      });
  if (window != nullptr && !window->paused()) {
    const WindowLock lock(window->mutex());
    window->maybe_pause_of_others();
  }
  return rc;
}

[[gnu::noinline]] int long_unlock(int rank, MPI_Win win) {
  if (straight_turns_to(win)) return MPI_Win_unlock(rank, win);
  Window* window = context.last_window;
  if (!passes_plainly(window, win)) return slow_unlock(rank, win);
  const Targets target = window->targets(rank);
  return unnoted_completing(
      *window, target, TraceSync::unlock, [&] { return next.Win_unlock(rank, win); },
      [&] {
        if (target.is_one()) window->epochs().unlock(target.rank());
      });
}

[[gnu::noinline]] int long_lock_all(int assert, MPI_Win win) {
  if (straight_turns_to(win)) return MPI_Win_lock_all(assert, win);
  take_waiting_locks();
  return opening(
      win, all, TraceSync::lock_all, Learns::order, [&] { return next.Win_lock_all(assert, win); },
      [assert](Window& window, Targets) {
        window.epochs().lock_all((MPI_MODE_NOCHECK & assert) != 0);
      });
}

[[gnu::noinline]] int long_unlock_all(MPI_Win win) {
  if (straight_turns_to(win)) return MPI_Win_unlock_all(win);
  take_waiting_locks();
  context.coherence.attend();
  return completing(
      win, all, TraceSync::unlock_all, Learns::no_more, [&] { return next.Win_unlock_all(win); },
      [](Window& window, Targets) { window.epochs().unlock_all(); });
}

// Calls that go straight to the engine in a pause, out of line, so that others save no registers
// for them.

[[gnu::noinline]] int paused_flush(int rank, MPI_Win win) {
  return straight_in_pause.flush(rank, win) ? MPI_SUCCESS : long_flush(rank, win);
}

[[gnu::noinline]] int paused_lock(int lock_type, int rank, int assert, MPI_Win win) {
  return straight_in_pause.lock(lock_type, rank, assert, win)
             ? MPI_SUCCESS
             : long_lock(lock_type, rank, assert, win);
}

[[gnu::noinline]] int paused_unlock(int rank, MPI_Win win) {
  return straight_in_pause.unlock(rank, win) ? MPI_SUCCESS : long_unlock(rank, win);
}

[[gnu::noinline]] int paused_lock_all(int assert, MPI_Win win) {
  return straight_in_pause.lock_all(assert, win) ? MPI_SUCCESS : long_lock_all(assert, win);
}

[[gnu::noinline]] int paused_unlock_all(MPI_Win win) {
  return straight_in_pause.unlock_all(win) ? MPI_SUCCESS : long_unlock_all(win);
}

}  // namespace
}  // namespace nearcache::mpi

using namespace nearcache::mpi;
using nearcache::Targets;
using nearcache::TraceSync;

extern "C" {

int MPI_Win_flush(int rank, MPI_Win win) {
  if (straight.flush(rank, win)) return MPI_SUCCESS;
  return straight_in_pause.is_of(win) ? paused_flush(rank, win) : long_flush(rank, win);
}

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  if (straight.lock(lock_type, rank, assert, win)) return MPI_SUCCESS;
  return straight_in_pause.is_of(win) ? paused_lock(lock_type, rank, assert, win)
                                      : long_lock(lock_type, rank, assert, win);
}

int MPI_Win_unlock(int rank, MPI_Win win) {
  if (straight.unlock(rank, win)) return MPI_SUCCESS;
  return straight_in_pause.is_of(win) ? paused_unlock(rank, win) : long_unlock(rank, win);
}

int MPI_Win_lock_all(int assert, MPI_Win win) {
  if (straight.lock_all(assert, win)) return MPI_SUCCESS;
  return straight_in_pause.is_of(win) ? paused_lock_all(assert, win) : long_lock_all(assert, win);
}

int MPI_Win_unlock_all(MPI_Win win) {
  if (straight.unlock_all(win)) return MPI_SUCCESS;
  return straight_in_pause.is_of(win) ? paused_unlock_all(win) : long_unlock_all(win);
}

int MPI_Win_flush_local(int rank, MPI_Win win) {
  return flush(win, one(rank), TraceSync::flush_local,
               [&] { return next.Win_flush_local(rank, win); });
}

int MPI_Win_flush_all(MPI_Win win) {
  return flush(win, all, TraceSync::flush, [&] { return next.Win_flush_all(win); });
}

int MPI_Win_flush_local_all(MPI_Win win) {
  return flush(win, all, TraceSync::flush_local, [&] { return next.Win_flush_local_all(win); });
}

int MPI_Win_fence(int assert, MPI_Win win) {
  note_window_release();
  return completing(
      win, all, TraceSync::fence, Learns::perhaps, [&] { return next.Win_fence(assert, win); },
      [&](Window& window, Targets targets) {
        window.completed_unnoted(targets);
        const bool met = window.epochs().in_fence() && (MPI_MODE_NOPRECEDE & assert) == 0;
        window.epochs().fence((MPI_MODE_NOSUCCEED & assert) == 0, met);
        if (met && window.coherent() != nullptr) window.coherent()->fenced();
      });
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  Window* window = find_window(win);
  const GroupRanks targets = window != nullptr ? GroupRanks(group, window->group()) : GroupRanks();
  return opening(
      win, all, TraceSync::start, Learns::perhaps,
      [&] { return next.Win_start(group, assert, win); },
      [&](Window& its, Targets) { its.epochs().start(targets.all()); });
}

int MPI_Win_complete(MPI_Win win) {
  note_window_release();
  if (Window* window = find_window(win); window != nullptr && window->coherent() != nullptr)
    window->coherent()->start_ends();
  return completing(
      win, all, TraceSync::complete, Learns::perhaps, [&] { return next.Win_complete(win); },
      [](Window& window, Targets) { window.epochs().complete(); });
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  note_window_release();
  return opening(
      win, all, TraceSync::post, Learns::perhaps, [&] { return next.Win_post(group, assert, win); },
      nothing);
}

int MPI_Win_wait(MPI_Win win) {
  note_window_release();
  return opening(
      win, all, TraceSync::wait, Learns::perhaps, [&] { return next.Win_wait(win); }, nothing);
}

#ifdef NEARCACHE_HAS_Win_test
int MPI_Win_test(MPI_Win win, int* flag) {
  note_window_release();
  return opening(
      win, all, TraceSync::wait, Learns::perhaps, [&] { return next.Win_test(win, flag); },
      nothing);
}
#endif

#ifdef NEARCACHE_HAS_Win_sync
int MPI_Win_sync(MPI_Win win) {
  note_window_release();
  return opening(
      win, all, TraceSync::win_sync, Learns::perhaps, [&] { return next.Win_sync(win); }, nothing);
}
#endif

}  // extern "C"
