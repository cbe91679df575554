// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/deferred_locks.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/immortal.h"
#include "mpi/process/next.h"
#include "mpi/rma/layer.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

// A lock that may be released while MPI is called.
std::unique_lock<std::mutex> guard(std::mutex& mutex) {
  return context.threaded ? std::unique_lock(mutex) : std::unique_lock(mutex, std::defer_lock);
}

void let_go(std::unique_lock<std::mutex>& lock) {
  if (lock.owns_lock()) lock.unlock();
}

void again(std::unique_lock<std::mutex>& lock) {
  if (context.threaded) lock.lock();
}

// Calls of a program without MPI_THREAD_MULTIPLE are in one order, whichever thread makes them.
std::thread::id asker() {
  return context.threaded ? std::this_thread::get_id() : std::thread::id();
}
bool is_own(std::thread::id asked_by) {
  return asked_by == asker() || asked_by == std::thread::id();
}

// The locks of all windows that MPI has not acquired or refused yet, in the order in which they
// were asked for. Its mutex is acquired after those of windows.
class WaitingLocks {
 public:
  struct Lock {
    DeferredLocks* of;
    Window* window;
    uint32_t target;
    std::thread::id asked_by;
  };

  void add(const Lock& lock) {
    const auto held = guard(mutex_);
    locks_.push_back(lock);
    count();
  }
  void remove(const DeferredLocks* of, uint32_t target) {
    const auto held = guard(mutex_);
    std::erase_if(locks_, [&](const Lock& its) { return its.of == of && its.target == target; });
    count();
  }
  // Returns those that this thread has asked for.
  std::vector<Lock> own() {
    const auto held = guard(mutex_);
    std::vector<Lock> found;
    std::ranges::copy_if(locks_, std::back_inserter(found), is_own, &Lock::asked_by);
    return found;
  }

 private:
  // While locks wait, no call passes this layer by (mpi/rma/straight.h).
  void count() {
    const bool waited = context.locks_waiting != 0;
    context.locks_waiting = static_cast<uint32_t>(locks_.size());
    if (waited != !locks_.empty()) rma_look_again();
  }

  std::mutex mutex_;
  std::vector<Lock> locks_;
};

WaitingLocks& waiting_locks() {
  static Immortal<WaitingLocks> locks;
  return locks.object;
}

auto is_of(uint32_t target) {
  return [target](const GetCall& get) { return static_cast<uint32_t>(get.target) == target; };
}

}  // namespace

DeferredLocks::Locks::iterator DeferredLocks::find(uint32_t target) {
  return std::ranges::find(locks_, target, &Lock::target);
}

bool DeferredLocks::has_served(uint32_t target) const {
  return std::ranges::any_of(served_, is_of(target));
}

// No writer has come between what was served and now.
bool DeferredLocks::is_final() const {
  return context.phases.quiet() &&
         (served_.empty() || context.phases.changes_of_mind() == told_since_);
}

void DeferredLocks::forget(uint32_t target) {
  std::erase_if(served_, is_of(target));
  std::erase_if(locks_, [&](const Lock& lock) {
    if (lock.target != target) return false;
    waiting_locks().remove(this, target);
    return true;
  });
  count_ = static_cast<uint32_t>(locks_.size());
}

void DeferredLocks::forget_all() {
  while (!locks_.empty()) forget(locks_.back().target);
}

void DeferredLocks::defer(Window& window, uint32_t target, int assert) {
  const auto lock = guard(mutex_);
  locks_.push_back({target, assert, State::waiting, asker()});
  waiting_locks().add({this, &window, target, asker()});
  ++count_;
}

// Whoever needs an older lock that is refused here is told.
int DeferredLocks::take(Window& window, Targets targets) {
  if (context.locks_waiting > 1) {  // else none is older
    auto own = waiting_locks().own();
    const auto is_needed = [&](const WaitingLocks::Lock& its) {
      return its.of == this && targets.cover(its.target);
    };
    while (!own.empty() && !is_needed(own.back())) own.pop_back();
    if (!own.empty()) own.pop_back();
    for (const WaitingLocks::Lock& its : own)
      its.of->take_these(*its.window, Targets::one(its.target));
  }
  return take_these(window, targets);
}

void DeferredLocks::take_waiting() {
  for (const WaitingLocks::Lock& its : waiting_locks().own())
    its.of->take_these(*its.window, Targets::one(its.target));
}

int DeferredLocks::take_these(Window& window, Targets targets) {
  auto lock = guard(mutex_);
  const auto is_needed = [&](const Lock& its) {
    return its.state != State::taken && targets.cover(its.target) &&
           (targets.is_one() || is_own(its.asked_by) || has_served(its.target));
  };
  for (;;) {
    const auto next_one = std::ranges::find_if(locks_, is_needed);
    if (next_one == locks_.end()) break;
    const Lock its = *next_one;
    if (its.state == State::being_taken) {
      // MPI has refused it, and calls an error handler that uses the window
      if (its.taker == std::this_thread::get_id()) return MPI_ERR_RMA_SYNC;
      let_go(lock);
      std::this_thread::yield();  // another thread is about to take it
      again(lock);
      continue;
    }
    next_one->taker = std::this_thread::get_id();
    next_one->state = State::being_taken;
    let_go(lock);
    window.sync_passes();
    const int rc =
        next.Win_lock(MPI_LOCK_SHARED, static_cast<int>(its.target), its.assert, window.handle());
    again(lock);
    const auto found = find(its.target);
    if (found == locks_.end()) return rc;  // an error handler has unlocked it
    waiting_locks().remove(this, its.target);
    if (rc != MPI_SUCCESS) {
      found->state = State::refused;
      return rc;
    }
    if (ends_at_acquires(window.mode())) {
      found->state = State::taken;
    } else {
      forget(its.target);
    }
  }
  return MPI_SUCCESS;
}

int DeferredLocks::issue(Window& window, const GetCall& get) {
  {
    const WindowLock lock(window.mutex());
    window.epochs().get_issued(static_cast<uint32_t>(get.target));
  }
  note_receives(get);
  return next.Get(get.origin, static_cast<int>(get.origin_count), get.origin_type, get.target,
                  get.displacement, static_cast<int>(get.target_count), get.target_type,
                  window.handle());
}

// The lock is certain to be held once an operation under it is complete. By then every rank that
// wrote before has announced it, and nobody writes after.
int DeferredLocks::confirm(Window& window, Targets targets) {
  int rc = take(window, targets), failed = MPI_SUCCESS;
  auto lock = guard(mutex_);
  while (rc == MPI_SUCCESS) {
    const auto its = std::ranges::find_if(locks_, [&](const Lock& each) {
      return each.state == State::taken && targets.cover(each.target) && has_served(each.target);
    });
    if (its == locks_.end()) break;
    const uint32_t target = its->target;
    const GetCall one = *std::ranges::find_if(served_, is_of(target));
    let_go(lock);
    bool issued = false;
    {
      const WindowLock window_lock(window.mutex());
      issued = window.epochs().gets_noted(target);
    }
    if (!issued) rc = issue(window, one);
    if (rc == MPI_SUCCESS) {
      rc = next.Win_flush(static_cast<int>(target), window.handle());
      // An operation has failed, but the lock is held.
      if (window.is_over(rc)) failed = failed == MPI_SUCCESS ? rc : failed, rc = MPI_SUCCESS;
    }
    again(lock);
    if (rc != MPI_SUCCESS) break;
    std::vector<GetCall> older;
    if (!is_final()) std::ranges::copy_if(served_, std::back_inserter(older), is_of(target));
    const auto found = find(target);
    if (found == locks_.end()) continue;  // another thread has done it
    const Lock held = *found;
    forget(target);
    let_go(lock);
    for (const GetCall& get : older) {
      if (rc == MPI_SUCCESS) rc = issue(window, get);
    }
    again(lock);
    if (rc == MPI_SUCCESS) continue;
    // If the call is retried, all of this must be done again.
    locks_.push_back(held);
    count_ = static_cast<uint32_t>(locks_.size());
    served_.insert(served_.end(), older.begin(), older.end());
  }
  return rc != MPI_SUCCESS ? rc : failed;
}

// One under which something was served since then is looked at by `confirm`.
void DeferredLocks::completed(const Window& window, Targets targets) {
  const auto lock = guard(mutex_);
  for (size_t at = locks_.size(); at-- > 0;) {
    const Lock its = locks_[at];
    if (its.state == State::taken && targets.cover(its.target) && !has_served(its.target) &&
        window.epochs().certainly_open(its.target))
      forget(its.target);
  }
}

void DeferredLocks::unlocked(uint32_t target) {
  const auto lock = guard(mutex_);
  forget(target);
}

bool DeferredLocks::drop(Window& window, uint32_t target) {
  {
    const auto lock = guard(mutex_);
    const auto its = find(target);
    if (its == locks_.end() || !is_missing(*its) ||
        (ends_at_acquires(window.mode()) && !is_final()))
      return false;
    forget(target);
  }
  const WindowLock lock(window.mutex());
  window.epochs().unlock(target);
  window.flush_served();
  window.flush_served();
  return true;
}

void DeferredLocks::served(const GetCall& call) {
  const auto lock = guard(mutex_);
  if (find(static_cast<uint32_t>(call.target)) == locks_.end()) return;
  if (served_.empty()) told_since_ = context.phases.changes_of_mind();
  served_.push_back(call);
}

void DeferredLocks::not_served(const GetCall& call) {
  const auto lock = guard(mutex_);
  const auto its = std::find_if(served_.rbegin(), served_.rend(), [&](const GetCall& get) {
    return get.target == call.target && get.origin == call.origin;
  });
  if (its != served_.rend()) served_.erase(std::next(its).base());
}

bool DeferredLocks::remembers(uint32_t target) {
  const auto lock = guard(mutex_);
  return find(target) != locks_.end();
}

bool DeferredLocks::waits(uint32_t target) {
  if (!any()) return false;
  const auto lock = guard(mutex_);
  const auto its = find(target);
  return its != locks_.end() && is_missing(*its);
}

bool DeferredLocks::full() {
  constexpr size_t most = 16;
  const auto lock = guard(mutex_);
  return served_.size() >= most;
}

}  // namespace nearcache::mpi
