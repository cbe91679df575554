// Keeps MPI's progress going while calls are answered from the cache (docs/semantics.md,
// "Progress").
//
// Many MPI libraries move other ranks' one-sided traffic only inside MPI calls, so after 4
// us of served calls one is made to MPI. It is a test of a request that never completes:
// over tcp MPICH 5 takes 270 ns for it, 430 ns for an empty flush and 590 ns for a probe,
// and all serve progress alike. Reading the clock costs 11 ns, a third of a small hit. While
// calls come fast it is read on every eighth only; eight fast calls take much less than 4
// us. A call that took no longer than such calls at least take found nothing to do: then the
// next one comes later, in the end after 10 us, and the first that finds something restores
// the 4.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/clock.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// A number that threads may race on: an update may be lost, nothing else. Costs what a plain number
// does.
template <class T>
class Racy {
 public:
  constexpr Racy(T value) : value_(value) {}
  operator T() const { return value_.load(std::memory_order_relaxed); }
  T operator=(T value) { return value_.store(value, std::memory_order_relaxed), value; }
  T operator--() { return *this = *this - 1; }

 private:
  std::atomic<T> value_;
};

// One for a process. Threads that race on it look at the clock once more or less, or call down once
// more.
class Progress {
 public:
  // `calls`: served calls between two looks at the clock; `time_ns`: between two calls.
  void configure(uint64_t calls, uint64_t time_ns) {
    calls_between_looks_ = static_cast<int>(calls < INT32_MAX ? calls : INT32_MAX);
    least_ticks_ = ns_to_ticks(time_ns);
    ticks_ = least_ticks_;
  }

  // Begins and ends what `call` needs of MPI: after MPI_Init, before MPI_Finalize.
  void start();
  void stop();

  // Goes down to MPI. Without a request to test there is nothing to call: then no flush is served.
  void call();
  bool available() const { return started_; }

  // A get or a flush was served. True if MPI must be called now.
  bool served() { return --until_look_ <= 0 && time_is_up(); }

  // MPI was called for another reason. When, the next look at the clock says: it is at most a few
  // served calls later.
  void called() { called_ = true; }

 private:
  [[gnu::noinline]] bool time_is_up();
  void took(uint64_t ticks);

  int calls_between_looks_ = 8;
  Racy<int> until_look_ = 1;
  Racy<bool> called_ = false;
  uint64_t least_ticks_ = 8000;
  Racy<uint64_t> ticks_ = 8000;  // between two calls, by what the last ones found
  Racy<uint64_t> called_at_ = 0;
  Racy<uint64_t> looked_at_ = 0;
  Racy<uint64_t> idle_ticks_ = UINT64_MAX;  // that a call takes which finds nothing to do
  std::mutex mutex_;                        // a request may be tested by one thread at a time
  MPI_Request request_{};
  bool started_ = false;
};

}  // namespace nearcache::mpi
