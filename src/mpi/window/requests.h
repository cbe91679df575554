// Requests of Rgets whose data is to be kept, or whose cost is measured. The program may change the
// buffer once the request is complete, so the data must be taken then, not at the end of the epoch.
#pragma once

#include <cstdint>

#include "mpi/entry/hooks.h"
#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/window/served_request.h"

namespace nearcache::mpi {

class Window;

// `sample`: the number by which its wait is measured, 0 if it is not. No record: it is measured
// only.
void request_track(MPI_Request request, Window* window, uint32_t record, uint64_t serial,
                   uint64_t sample);

// The request of a get or an own write of which nothing is kept: its completion tells nothing of
// others.
void request_note_plain(MPI_Request request);

// A request of an own write or a get was issued, with this result: where it may matter, it is known
// for one that tells nothing of others. That of served Rgets always is.
inline int noted_plain(int rc, const MPI_Request* request) {
  if (rc != MPI_SUCCESS) return rc;
  if (served_request.is(*request)) {
    served_request.take();
  } else if (context.phases.interested() || context.observer.tracing()) [[unlikely]] {
    request_note_plain(*request);
  }
  return rc;
}
// Whether MPI says so without completing it.
bool is_complete(MPI_Request request);

// Of a fetching operation: its completion may tell of others. One that is complete at once may have
// the handle of requests that tell nothing, so its return tells. (Out of quiet phases any
// completion does.)
inline int noted_fetch(int rc, const MPI_Request* request) {
  if (rc == MPI_SUCCESS &&
      (served_request.is(*request) ||
       (context.acquires.quiet.load(std::memory_order_relaxed) && is_complete(*request))))
    note_acquire();
  return rc;
}

// The window is being freed: its requests need no tracking any more.
void requests_forget(const Window* window);

}  // namespace nearcache::mpi
