// Keeps MPI's progress going while calls are answered from the cache (docs/semantics.md, "Progress").
//
// Many MPI libraries move other ranks' one-sided traffic only inside MPI calls, so after 16 served gets, or 10 us,
// one call goes down. A flush after a served get counts with it. The call is a test of a request that never
// completes: over tcp MPICH 5 takes 270 ns for it, 430 ns for an empty flush and 590 ns for a probe, and all do the
// same for progress. The clock costs 11 ns, a third of a small hit: while calls come fast it is read on every fourth only, which
// is as good, since four fast calls are over long before the time is.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/clock.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// A number that threads may race on: an update may be lost, nothing else. Costs what a plain number does.
template <class T>
class Racy {
 public:
  Racy(T value) : value_(value) {}
  operator T() const { return value_.load(std::memory_order_relaxed); }
  T operator=(T value) { return value_.store(value, std::memory_order_relaxed), value; }
  T operator--() { return *this = *this - 1; }

 private:
  std::atomic<T> value_;
};

// One for a process. Threads that race on it lose a count, or call down once more.
class Progress {
 public:
  void configure(uint64_t calls, uint64_t time_ns) {
    most_calls_ = calls == 0 ? 1 : static_cast<int64_t>(calls < INT32_MAX ? calls : INT32_MAX);
    left_ = most_calls_;
    most_ticks_ = static_cast<uint64_t>(static_cast<double>(time_ns) / ns_per_tick());
  }

  // Begins and ends what `call` needs of MPI: after MPI_Init, before MPI_Finalize.
  void start();
  void stop();

  // Goes down to MPI. Without a request to test there is nothing to call: then no flush is served.
  void call();
  bool available() const { return started_; }

  // A get was served. True if MPI must be called now; after a first get the flush is waited for instead.
  bool get_served() {
    if (!after_get_) [[likely]] {
      after_get_ = true;
      return false;
    }
    return count();
  }

  // A flush was served. True if MPI must be called now.
  bool flush_served() {
    after_get_ = false;
    return count();
  }

  // MPI was called for another reason.
  void called() {
    left_ = most_calls_;
    after_get_ = false;
  }

 private:
  bool count() {
    if (--left_ <= 0) return due(clock_ticks());
    return --until_clock_ <= 0 && time_is_up();
  }

  [[gnu::noinline]] bool time_is_up() {
    const uint64_t now = clock_ticks();
    const uint64_t since_look = now - looked_at_;
    looked_at_ = now;
    if (now - called_at_ >= most_ticks_) return due(now);
    until_clock_ = since_look < most_ticks_ / 4 ? 4 : 1;
    return false;
  }

  [[gnu::noinline]] bool due(uint64_t now) {
    left_ = most_calls_;
    called_at_ = now;
    looked_at_ = now;
    until_clock_ = 4;
    after_get_ = false;
    return true;
  }

  Racy<int64_t> left_ = 16;  // served calls until one must go down
  int64_t most_calls_ = 16;
  uint64_t most_ticks_ = 20000;
  Racy<uint64_t> called_at_ = 0;
  Racy<uint64_t> looked_at_ = 0;
  Racy<int> until_clock_ = 1;
  Racy<bool> after_get_ = false;
  std::mutex mutex_;  // a request may be tested by one thread at a time
  MPI_Request request_{};
  bool started_ = false;
};

}  // namespace nearcache::mpi
