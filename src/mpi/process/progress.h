// SPDX-License-Identifier: BSD-3-Clause

// Keeps MPI's progress going while calls are answered from the cache (docs/semantics.md,
// "Progress").
//
// Many MPI libraries move other ranks' one-sided traffic only inside MPI calls, so after 4 us of
// served calls we make one. It tests a request that never completes: over TCP, MPICH 5 takes 270 ns
// for that, 430 ns for an empty flush and 590 ns for a probe, and all of them drive progress
// equally well. Reading the clock costs 11 ns, a third of a small hit, so while calls come fast it
// is read only on every eighth; eight fast calls take much less than 4 us. A call that took no
// longer than the fastest such calls found nothing to do. Then the next one is made later,
// eventually after 10 us; the first call that finds work restores the 4 us.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/clock.h"
#include "base/racy.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// One per process. Threads that race on it may read the clock once too often or too rarely, or make
// one extra call to MPI.
class Progress {
 public:
  // `calls`: served calls between two readings of the clock; `time_ns`: nanoseconds between two
  // calls to MPI.
  void configure(uint64_t calls, uint64_t time_ns) {
    calls_between_looks_ = static_cast<int>(calls < INT32_MAX ? calls : INT32_MAX);
    least_ticks_ = ns_to_ticks(time_ns);
    ticks_ = least_ticks_;
  }

  // Creates and ends the request that call() tests. Called after MPI_Init and before MPI_Finalize.
  void start();
  void stop();

  // Calls MPI. Does nothing if the request could not be created; no flush is served in that case.
  void call();
  // Like call(), within a call of the engine's, which sends what the engine holds itself.
  void turn();
  bool available() const { return started_; }

  // A get or a flush was served. Returns true if MPI must be called now.
  [[gnu::always_inline]] bool served() { return served_many() && time_is_up(); }
  // The two parts of served(); the second one follows if the first one returns true.
  [[gnu::always_inline]] bool served_many() { return --until_look_ <= 0; }
  [[gnu::noinline]] bool time_is_up();

  // MPI was called for another reason. The time is taken at the next reading of the clock, at most
  // a few served calls later.
  void called() { called_ = true; }

 private:
  void took(uint64_t ticks);

  int calls_between_looks_ = 8;
  Racy<int> until_look_ = 1;
  Racy<bool> called_ = false;
  uint64_t least_ticks_ = 8000;
  Racy<uint64_t> ticks_ = 8000;  // between two calls to MPI, adapted to what recent ones found
  Racy<uint64_t> called_at_ = 0;
  Racy<uint64_t> looked_at_ = 0;
  Racy<uint64_t> idle_ticks_ = UINT64_MAX;  // duration of a call that finds nothing to do
  std::mutex mutex_;                        // only one thread at a time may test a request
  MPI_Request request_{};
  bool started_ = false;
};

}  // namespace nearcache::mpi
