// SPDX-License-Identifier: BSD-3-Clause

// Words in shared memory through which the ranks of one node synchronise without messages. Their
// initial state is zero.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/futex.h"

namespace nearcache::rma {

enum class LockType : uint8_t { shared, exclusive };
// How a rank holds a lock that it has taken by its word. `unsure`: it is about to take it or to
// release it.
enum class Held : uint32_t { no, shared, exclusive, unsure };

// A mutex that is held only briefly. A thread that waits longer sleeps, and notices if the process
// that holds it has died.
class Mutex {
 public:
  // `process` is the caller's pid. Takes the mutex over from a process that has died: for state
  // that can be repaired, or whose loss is known by other means (lock_queue.h).
  void lock_or_take_over(uint32_t process) {
    if (!try_lock(process)) [[unlikely]]
      lock_contended(process << 1, true);
  }
  // Returns false, now and ever after, if a process has died with the mutex: what it did is half
  // done.
  [[nodiscard]] bool lock_intact(uint32_t process) {
    return try_lock(process) || lock_contended(process << 1, false);
  }
  bool try_lock(uint32_t process) {
    uint32_t free = 0;
    return word_.compare_exchange_strong(free, process << 1, std::memory_order_acquire);
  }
  [[gnu::always_inline]] void unlock() {
    if ((word_.exchange(0) & sleepers) != 0) [[unlikely]]
      wake();
  }

 private:
  static constexpr uint32_t sleepers = 1, spoilt = 1;  // spoilt: held by nobody, for good
  void wake();
  bool lock_contended(uint32_t own, bool takes_over);

  std::atomic<uint32_t> word_;  // twice the holder's pid, plus 1 if others sleep
};

// A window's lock at one target, for ranks that get it at once. Others wait in its queue
// (lock_queue.h); while any do, no rank takes it by the word alone. The lock is lost if a rank has
// died while taking or releasing it: nobody knows who has it, so nobody gets it any more.
class LockWord {
 public:
  [[gnu::always_inline]] bool try_take(LockType type) {
    return take(type, exclusive | queue | lost);
  }
  // For the first rank of the queue, and those that overtake it.
  bool try_take_in_turn(LockType type) { return take(type, exclusive | lost); }
  // Returns true if anybody is in the queue: LockQueue::grant must follow.
  [[gnu::always_inline]] bool release(LockType type) {
    const uint32_t before = type == LockType::exclusive
                                ? word_.fetch_sub(exclusive, std::memory_order_acq_rel)
                                : word_.fetch_sub(1, std::memory_order_acq_rel);
    return (before & queue) != 0;
  }
  void lose() { word_.fetch_or(lost); }
  bool is_lost() const { return (word_.load(std::memory_order_acquire) & lost) != 0; }
  void set_queue(bool any) {
    if (any) {
      word_.fetch_or(queue);
    } else {
      word_.fetch_and(~queue);
    }
  }

 private:
  static constexpr uint32_t exclusive = 1U << 31, queue = 1U << 30, lost = 1U << 29;
  static constexpr uint32_t holders = lost - 1;  // the number of shared holders

  [[gnu::always_inline]] bool take(LockType type, uint32_t against) {
    uint32_t now = word_.load(std::memory_order_relaxed);
    for (;;) {
      const uint32_t most = type == LockType::exclusive ? 0 : holders - 1;
      if ((now & against) != 0 || (now & holders) > most) return false;
      const uint32_t then = type == LockType::exclusive ? now | exclusive : now + 1;
      if (word_.compare_exchange_weak(now, then, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
  }

  std::atomic<uint32_t> word_;
};

// Wakes threads that wait for a word to change.
class Doorbell {
 public:
  // Call this after the word has been changed.
  void ring() {
    if (sleepers_.fetch_add(0) == 0) return;  // a thread that goes to sleep later sees the word
    rings_.fetch_add(1);
    futex_wake(&rings_);
  }
  // Sleeps until it rings, for at most `ns` nanoseconds; not at all if done() is true.
  template <class Done>
  void wait(Done done, uint64_t ns) {
    sleepers_.fetch_add(1);
    const uint32_t seen = rings_.load();
    if (!done()) futex_wait(&rings_, seen, ns);
    sleepers_.fetch_sub(1);
  }

 private:
  std::atomic<uint32_t> rings_, sleepers_;
};

}  // namespace nearcache::rma
