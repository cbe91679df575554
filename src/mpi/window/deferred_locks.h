// Shared locks that have not been passed to MPI (docs/semantics.md, "Shared locks"). MPI may
// take a lock as late as the first operation of its epoch, so an epoch whose gets are all
// served needs none. But no other rank's exclusive epoch may come between its gets: always
// and user have a promise; transparent remembers what it serves until it is known that none
// did.
//
// Locks go down in the order in which the program asked for them, whatever window they are of, and
// before others may learn that it has: a program that takes its locks in one order everywhere must
// not come to a deadlock by ours. (Not with threads: one must not wait for another one's lock.)
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "front/targets.h"
#include "mpi/process/context.h"
#include "mpi/window/get_call.h"

namespace nearcache::mpi {

class Window;

// Any thread. None of these may be called with the window's lock held, but those that say so.
class DeferredLocks {
 public:
  DeferredLocks() = default;
  ~DeferredLocks() { forget_all(); }
  DeferredLocks(const DeferredLocks&) = delete;
  DeferredLocks& operator=(const DeferredLocks&) = delete;

  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }

  void defer(uint32_t target, int assert);
  // It has not gone down yet.
  bool waits(uint32_t target);
  // Those of `targets` are taken now, before an operation, and all that are older. An error of
  // MPI's.
  int take(Window& window, Targets targets);
  // Those of all windows are: another lock follows, or a call by which others may learn of them.
  static void take_waiting();
  // Before gets of `targets` are completed: what was served under such a lock becomes final, or is
  // issued. An error of MPI's.
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
  // So many were that some must be confirmed before more are.
  bool full();

 private:
  enum class State : uint8_t { waiting, being_taken, taken };
  struct Lock {
    uint32_t target;
    int assert;
    State state;
    uint64_t number;  // of all that were deferred
  };
  using Locks = std::vector<Lock>;
  Locks::iterator find(uint32_t target);
  bool has_served(uint32_t target) const;
  void forget(uint32_t target);
  void forget_all();
  int take_these(Window& window, Targets targets);
  int take_older(Targets targets);
  static int take_up_to(uint64_t number);
  static int issue(Window& window, const GetCall& get);

  std::atomic<uint32_t> count_{0};
  std::mutex mutex_;  // covers what follows, with other threads
  Locks locks_;
  std::vector<GetCall> served_;
};

// Before a call, or a write, by which others may learn that this rank has asked for locks.
inline bool locks_wait() noexcept {
  return context.locks_waiting.load(std::memory_order_relaxed) != 0;
}
inline void take_waiting_locks() noexcept {
  if (locks_wait()) [[unlikely]]
    DeferredLocks::take_waiting();
}

}  // namespace nearcache::mpi
