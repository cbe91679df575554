// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/patience.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// One round of 128 polling ranks takes about 2 s on two cores.
uint64_t patience_ns(int ranks) {
  constexpr uint64_t second = 1000000000;
  return std::min<uint64_t>(10 * second + static_cast<uint64_t>(ranks) * second / 10, 60 * second);
}

Exchange::~Exchange() {
  if (data_ != nullptr && data_->request == MPI_REQUEST_NULL) delete data_;
}

// For each message, SMPI searches a list of all ranks' messages: with 128 ranks its non-blocking
// collective takes half a minute. In a simulation all ranks answer, so a blocking call will do.
bool Exchange::gather_to_all(MPI_Comm comm) {
  const int words = static_cast<int>(sent().size());
#ifdef NEARCACHE_FAMILY_SIMGRID
  return next.Allgather(sent().data(), words, MPI_UINT64_T, received().data(), words, MPI_UINT64_T,
                        comm) == MPI_SUCCESS;
#else
  return next.Iallgather(sent().data(), words, MPI_UINT64_T, received().data(), words, MPI_UINT64_T,
                         comm, request()) == MPI_SUCCESS;
#endif
}

bool Exchange::wait(uint64_t most_ns) {
#ifdef NEARCACHE_FAMILY_SIMGRID
  // All ranks are in one program, and time is simulated.
  return next.Wait(&data_->request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
#endif
  // A longer gap between two tests was not waiting: the job was stopped or had no processor, and so
  // perhaps were the ranks it waits for.
  constexpr uint64_t longest_wait_ns = 100000000;
  uint64_t waited = 0;
  for (uint64_t looked_at = system_ns();;) {
    int done = 0;
    if (data_->request == MPI_REQUEST_NULL) return true;
    if (next.Test(&data_->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (waited >= most_ns) return false;
    const uint64_t now = system_ns();
    waited += std::min(now - std::exchange(looked_at, now), longest_wait_ns);
    // There may be more ranks than cores. A rank that is late by a millisecond is late by much
    // more.
    if (waited < 1000000) {
      sched_yield();
    } else {
      usleep(100);
    }
  }
}

}  // namespace nearcache::mpi
