// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/served_request.h"

#include <cstdint>

#include "front/handle_bits.h"
#include "mpi/process/context.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

int empty_get(MPI_Win window, int target, MPI_Request* request) {
  return next.Rget(nullptr, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, window, request);
}

// Two requests have this handle at the same time. Returns whether it may be waited for more often
// than MPI has handed it out.
[[maybe_unused]] bool never_counted([[maybe_unused]] MPI_Request request) {
#if defined(NEARCACHE_FAMILY_MPICH)
  // The two upper bits of a handle say where its object is; 01 means built in. Versions before 4
  // use an object that is not built in and count its references.
  return (static_cast<uint32_t>(request) >> 30) == 1;
#elif defined(NEARCACHE_FAMILY_OPENMPI)
  return request != nullptr && request == next_symbol("ompi_request_empty");
#elif defined(NEARCACHE_FAMILY_ABI)
  return true;  // no MPI with the standard ABI counts them
#else
  return false;
#endif
}

}  // namespace

// First tries MPI_PROC_NULL as the target, for which no MPI needs to look anything up, twice, to
// see whether both requests have the same handle. Threads may find out concurrently.
int ServedRequest::make_by_call(MPI_Win window, int target, MPI_Request* request) {
  if (state_.load(std::memory_order_relaxed) == State::none)
    return empty_get(window, target, request);
  MPI_Request another;
  bool shared = false;
  // With a network model, requests have deadlines, so each must be waited for.
  const bool asks = context.options.model.empty();
  if (const int rc = empty_get(window, asks ? MPI_PROC_NULL : target, request); rc != MPI_SUCCESS)
    return rc;
  if (asks && empty_get(window, MPI_PROC_NULL, &another) == MPI_SUCCESS) {
    shared = another == *request && never_counted(another);
    next.Wait(&another, MPI_STATUS_IGNORE);
  }
  if (shared) handle_.store(*request, std::memory_order_relaxed);
  state_.store(shared ? State::shared : State::none, std::memory_order_release);
  return MPI_SUCCESS;
}

}  // namespace nearcache::mpi
