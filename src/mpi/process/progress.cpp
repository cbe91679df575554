#include "mpi/process/progress.h"

#include "mpi/process/context.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

int query(void*, MPI_Status*) { return MPI_SUCCESS; }
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

void Progress::start() { started_ = next.Grequest_start(query, release, cancel, nullptr, &request_) == MPI_SUCCESS; }

void Progress::stop() {
  if (!started_) return;
  started_ = false;
  next.Grequest_complete(request_);
  next.Wait(&request_, MPI_STATUS_IGNORE);
}

void Progress::call() {
#ifdef NEARCACHE_FAMILY_SIMGRID
  // The simulated network needs no help, and a test there sleeps in virtual time.
  return;
#endif
  int flag = 0;
  if (!started_) return;
  if (!context.threaded) {
    next.Test(&request_, &flag, MPI_STATUS_IGNORE);
  } else if (mutex_.try_lock()) {  // else another thread is at it already
    next.Test(&request_, &flag, MPI_STATUS_IGNORE);
    mutex_.unlock();
  }
}

}  // namespace nearcache::mpi
