// Keeps MPI's progress going while calls are answered from the cache (docs/semantics.md, "Progress").
//
// Many MPI libraries move other ranks' one-sided traffic only inside MPI calls, so after 16 served gets, or 10 us,
// one call goes down: the flush that follows, or a probe where none does. A flush after a served get counts with
// it. The clock costs 11 ns, a third of a small hit: while calls come fast it is read on every fourth only, which
// is as good, since four fast calls are over long before the time is.
#pragma once

#include <cstdint>

#include "core/clock.h"

namespace nearcache::mpi {

// One for a process. Threads may race on it: they lose a count, or call down once more.
class Progress {
 public:
  void configure(uint64_t calls, uint64_t time_ns) {
    most_calls_ = calls == 0 ? 1 : calls;
    most_ticks_ = static_cast<uint64_t>(static_cast<double>(time_ns) / ns_per_tick());
  }

  // A get was served. True if MPI must be called now; after a first get the flush is waited for instead.
  bool get_served() {
    ++served_;
    if (!after_get_) {
      after_get_ = true;
      return false;
    }
    return served_ > most_calls_ ? due(clock_ticks()) : time_is_up();
  }

  // A flush could be served. True if it must be passed to MPI.
  bool flush_served() {
    if (!after_get_) ++served_;
    after_get_ = false;
    return served_ >= most_calls_ ? due(clock_ticks()) : time_is_up();
  }

  // MPI was called for another reason.
  void called() {
    served_ = 0;
    after_get_ = false;
  }

 private:
  bool time_is_up() {
    if (--until_clock_ > 0) return false;
    const uint64_t now = clock_ticks();
    const uint64_t since_look = now - looked_at_;
    looked_at_ = now;
    if (now - called_at_ >= most_ticks_) return due(now);
    until_clock_ = since_look < most_ticks_ / 4 ? 4 : 1;
    return false;
  }

  bool due(uint64_t now) {
    served_ = 0;
    called_at_ = looked_at_ = now;
    until_clock_ = until_clock_ > 0 ? until_clock_ : 1;
    after_get_ = false;
    return true;
  }

  uint64_t served_ = 0;
  uint64_t most_calls_ = 16;
  uint64_t most_ticks_ = 20000;
  uint64_t called_at_ = 0;
  uint64_t looked_at_ = 0;
  int until_clock_ = 1;
  bool after_get_ = false;
};

}  // namespace nearcache::mpi
