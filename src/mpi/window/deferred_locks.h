// SPDX-License-Identifier: BSD-3-Clause

// Shared locks that the program has asked for but that have not been passed to MPI yet
// (docs/semantics.md, "Shared locks"). MPI may acquire a lock as late as the first operation of its
// epoch, so an epoch whose gets are all served from the cache needs no lock at all. But no other
// rank's exclusive epoch may come between its gets. In modes always and user the program has
// promised that; mode transparent remembers the gets it serves until it is known that no such epoch
// intervened.
//
// Locks are passed to MPI in the order in which the program asked for them, across all windows, and
// before other ranks can learn that it has asked: deferral must not deadlock a program that takes
// its locks in the same order everywhere. With MPI_THREAD_MULTIPLE each thread keeps the order of
// its own, and waits for another thread's lock only if it needs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "cache/get/targets.h"
#include "mpi/process/context.h"
#include "mpi/window/get_call.h"

namespace nearcache::mpi {

class Window;

// Thread-safe. Must not be called with the window's lock held, unless noted otherwise.
class DeferredLocks {
 public:
  DeferredLocks() = default;
  ~DeferredLocks() { forget_all(); }
  DeferredLocks(const DeferredLocks&) = delete;
  DeferredLocks& operator=(const DeferredLocks&) = delete;

  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }

  void defer(Window& window, uint32_t target, int assert);
  // Returns true if the lock of `target` has not been passed to MPI yet.
  bool waits(uint32_t target);
  // Passes the deferred locks of `targets` to MPI before an operation, along with all older ones of
  // this thread. Of all targets, locks are left out that another thread has asked for and not used.
  // Returns an MPI error code; a lock of `targets` is missing then, and the operation must fail.
  int take(Window& window, Targets targets);
  // Passes this thread's deferred locks of all windows to MPI: another lock follows, or a call by
  // which other ranks may learn of them. One that MPI refuses is asked for again by the first
  // operation that needs it, which returns the error.
  static void take_waiting();
  // Called before gets of `targets` are completed: what was served under such a lock becomes final
  // or, if that is not safe, is issued after all. Returns an MPI error code.
  int confirm(Window& window, Targets targets);
  // Operations of `targets` are complete. With the window's lock.
  void completed(const Window& window, Targets targets);
  // The epoch ends. False if its lock was taken, or must be now.
  bool drop(Window& window, uint32_t target);
  // It has ended.
  void unlocked(uint32_t target);

  // The target's lock is one of these, whether it has been taken or not: what is served has to be
  // remembered until it is certainly held. With the window's lock.
  bool remembers(uint32_t target);
  // The get was served, in mode transparent; with the window's lock.
  void served(const GetCall& call);
  // The rest of it was refused: nothing may be written to its buffer any more.
  void not_served(const GetCall& call);
  // Returns true if so many gets were served that they must be confirmed before more are.
  bool full();

 private:
  // refused: the program believes that it has the lock; only operations under it ask for it again,
  // so that it is never taken once the program has given up
  enum class State : uint8_t { waiting, refused, being_taken, taken };
  struct Lock {
    uint32_t target;
    int assert;
    State state;
    std::thread::id asked_by;    // if there are several threads
    std::thread::id taker = {};  // the thread that takes it
  };
  using Locks = std::vector<Lock>;
  static bool is_missing(const Lock& its) {
    return its.state == State::waiting || its.state == State::refused;
  }
  Locks::iterator find(uint32_t target);
  bool has_served(uint32_t target) const;
  bool is_final() const;
  void forget(uint32_t target);
  void forget_all();
  int take_these(Window& window, Targets targets);
  static int issue(Window& window, const GetCall& get);

  std::atomic<uint32_t> count_{0};
  std::mutex mutex_;  // guards the members below when there are other threads
  Locks locks_;
  std::vector<GetCall> served_;
  // changes of mind of Phases when the first of them was served: writers have told this rank since
  // if there were none
  uint64_t told_since_ = 0;
};

// Called before a call or a write by which other ranks may learn that this rank has asked for
// locks.
inline bool locks_wait() noexcept {
  return context.locks_waiting.load(std::memory_order_relaxed) != 0;
}
inline void take_waiting_locks() noexcept {
  if (locks_wait()) [[unlikely]]
    DeferredLocks::take_waiting();
}

}  // namespace nearcache::mpi
