// SPDX-License-Identifier: BSD-3-Clause

// A lock in memory shared between processes. If a process dies holding it, the next one gets it and
// is told so: the data that the lock protects may then be in any state.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cerrno>

#include "base/spin.h"
#include "base/thread_sanitizer.h"

namespace nearcache {

class RobustLock {
 public:
  // Returns false if this system has no such locks.
  [[nodiscard]] bool make() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    const bool made = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                      pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
                      pthread_mutex_init(&mutex_, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return made;
  }

  enum class Taken { no, yes, after_a_death };
  // The lock is normally held for a microsecond or two, so lock() spins that long before the
  // process sleeps. It gives up after a while (Taken::no): the holder may be stopped, by a debugger
  // for instance.
  Taken lock() {
    for (int turn = 0; turn < most_turns; ++turn) {
      const int rc = pthread_mutex_trylock(&mutex_);
      if (rc != EBUSY) return taken(rc);
      relax_processor();
    }
    timespec until{};
    clock_gettime(clock, &until);
    until.tv_nsec += most_asleep_ns;
    if (until.tv_nsec >= second_ns) ++until.tv_sec, until.tv_nsec -= second_ns;
    return taken(lock_until(until));
  }
  Taken try_lock() { return taken(pthread_mutex_trylock(&mutex_)); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  // Declares the protected data to be consistent again. Until then, the next owner would again be
  // told of a death.
  void repaired() { pthread_mutex_consistent(&mutex_); }

 private:
// The thread sanitizer does not know pthread_mutex_clocklock.
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30) && \
    !defined(NEARCACHE_THREAD_SANITIZER)
  // Nobody sets this clock.
  static constexpr clockid_t clock = CLOCK_MONOTONIC;
  int lock_until(const timespec& time) { return pthread_mutex_clocklock(&mutex_, clock, &time); }
#else
  static constexpr clockid_t clock = CLOCK_REALTIME;
  int lock_until(const timespec& time) { return pthread_mutex_timedlock(&mutex_, &time); }
#endif

  static constexpr int most_turns = 100;
  // a few time slices of the scheduler, as the holder may be waiting for one
  static constexpr long most_asleep_ns = 20'000'000, second_ns = 1'000'000'000;
  static Taken taken(int rc) {
    if (rc == EOWNERDEAD) return Taken::after_a_death;
    return rc == 0 ? Taken::yes : Taken::no;
  }

  pthread_mutex_t mutex_;
};

}  // namespace nearcache
