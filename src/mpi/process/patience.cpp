#include "mpi/process/patience.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// A round of 128 ranks that poll takes some 2 s on two cores.
uint64_t patience_ns(int ranks) {
  constexpr uint64_t second = 1000000000;
  return std::min<uint64_t>(10 * second + static_cast<uint64_t>(ranks) * second / 10, 60 * second);
}

Exchange::~Exchange() {
  if (data_ != nullptr && data_->request == MPI_REQUEST_NULL) delete data_;
}

// SMPI searches a list of the messages of all ranks for each of them: with 128 ranks its
// non-blocking collective takes half a minute. All ranks of a simulation answer.
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
  // All ranks are one program there, and time is virtual.
  return next.Wait(&data_->request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
#endif
  const uint64_t start = system_ns();
  for (;;) {
    int done = 0;
    if (data_->request == MPI_REQUEST_NULL) return true;
    if (next.Test(&data_->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    const uint64_t waited = system_ns() - start;
    if (waited >= most_ns) return false;
    // Ranks may be more than cores; whoever is late by a millisecond is late by more.
    if (waited < 1000000) {
      sched_yield();
    } else {
      usleep(100);
    }
  }
}

}  // namespace nearcache::mpi
