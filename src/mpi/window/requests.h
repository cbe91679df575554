// SPDX-License-Identifier: BSD-3-Clause

// Requests of Rgets whose data is to be cached or whose cost is measured. The program may change
// the buffer once the request is complete, so the data must be copied then, not at the end of the
// epoch.
#pragma once

#include <cstdint>

#include "mpi/entry/hooks.h"
#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/window/served_request.h"

namespace nearcache::mpi {

class Window;

// `sample`: the number of the measurement, 0 if the wait is not measured. `record` is no_record if
// the request is only measured.
void request_track(MPI_Request request, Window* window, uint32_t record, uint64_t serial,
                   uint64_t sample);

// Notes the request of a get or an own write that the cache keeps nothing of: its completion says
// nothing about other ranks.
void request_note_plain(MPI_Request request);

// Called when an own write or a get with a request was issued and returned `rc`. Where it matters,
// notes that the request's completion says nothing about other ranks; that of served Rgets never
// does.
inline int noted_plain(int rc, const MPI_Request* request) {
  if (rc != MPI_SUCCESS) return rc;
  if (served_request.is(*request)) {
    served_request.take();
  } else if (context.phases.interested() || context.observer.tracing()) [[unlikely]] {
    request_note_plain(*request);
  }
  return rc;
}
// Asks MPI whether the request is complete, without completing it. Also true if MPI returns an
// error.
bool is_complete(MPI_Request request);

// Called when a fetching operation with a request was issued: its completion may carry news of
// other ranks. If it is complete at once, its handle may be the same as that of requests that carry
// none, so its return already counts as an acquire. (Outside of quiet phases any completion does.)
inline int noted_fetch(int rc, const MPI_Request* request) {
  if (rc == MPI_SUCCESS &&
      (served_request.is(*request) ||
       (context.acquires.quiet.load(std::memory_order_relaxed) && is_complete(*request))))
    note_acquire();
  return rc;
}

// The window is being freed: stops tracking its requests.
void requests_forget(const Window* window);

}  // namespace nearcache::mpi
