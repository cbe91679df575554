// A lock in memory that processes share. If one dies with it held, the next one gets it and is told
// so: what the lock covers may be anything then.
#pragma once

#include <pthread.h>

#include <cerrno>

#include "base/spin.h"

namespace nearcache {

class RobustLock {
 public:
  void make() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }

  enum class Taken { no, yes, after_a_death };
  // It is held for a microsecond or two: looked for that long before the process sleeps.
  Taken lock() {
    for (int turn = 0; turn < most_turns; ++turn) {
      const int rc = pthread_mutex_trylock(&mutex_);
      if (rc != EBUSY) return taken(rc);
      relax_processor();
    }
    return taken(pthread_mutex_lock(&mutex_));
  }
  Taken try_lock() { return taken(pthread_mutex_trylock(&mutex_)); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  // What the lock covers is in order again. Until then a death leaves it as it was: told to the
  // next one.
  void repaired() { pthread_mutex_consistent(&mutex_); }

 private:
  static constexpr int most_turns = 100;
  static Taken taken(int rc) {
    if (rc == EOWNERDEAD) return Taken::after_a_death;
    return rc == 0 ? Taken::yes : Taken::no;
  }

  pthread_mutex_t mutex_;
};

}  // namespace nearcache
