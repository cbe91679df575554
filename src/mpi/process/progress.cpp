// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/progress.h"

#include <algorithm>

#include "mpi/process/context.h"
#include "mpi/process/next.h"
#include "mpi/rma/layer.h"

namespace nearcache::mpi {
namespace {

int query(void*, MPI_Status*) { return MPI_SUCCESS; }
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

void Progress::start() {
  if (started_) return;
  started_ = next.Grequest_start(query, release, cancel, nullptr, &request_) == MPI_SUCCESS;
}

void Progress::stop() {
  if (!started_) return;
  started_ = false;
  next.Grequest_complete(request_);
  next.Wait(&request_, MPI_STATUS_IGNORE);
}

bool Progress::time_is_up() {
  const uint64_t now = clock_ticks();
  const uint64_t since_look = now - looked_at_;
  looked_at_ = now;
  if (called_) {
    called_ = false;
    called_at_ = now;
  }
  context.phases.age(now);
  const bool due = now - called_at_ >= ticks_;
  if (due) called_at_ = now;
  until_look_ = since_look < least_ticks_ / 2 ? calls_between_looks_ : 1;
  return due;
}

void Progress::call() {
  rma_host_is_called();
  turn();
}

void Progress::turn() {
#ifdef NEARCACHE_FAMILY_SIMGRID
  // The simulated network needs no help, and a test would sleep in simulated time.
  return;
#endif
  int flag = 0;
  if (!started_) return;
  if (context.threaded && !mutex_.try_lock()) return;  // another thread is doing it
  const uint64_t began = clock_ticks();
  next.Test(&request_, &flag, MPI_STATUS_IGNORE);
  took(clock_ticks() - began);
  if (context.threaded) mutex_.unlock();
}

void Progress::took(uint64_t ticks) {
  const uint64_t idle = idle_ticks_;
  // also grows, because the processor's speed changes
  idle_ticks_ = ticks < idle ? ticks : idle + idle / 64 + 1;
  if (ticks > 2 * idle) {
    ticks_ = least_ticks_;
  } else {
    ticks_ = std::min(ticks_ + ticks_ / 4, least_ticks_ / 2 * 5);
  }
}

}  // namespace nearcache::mpi
