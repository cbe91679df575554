// Requests of Rgets whose data is to be kept, or whose cost is measured: the program may change the buffer once the request is complete, so
// the data must be taken then, not at the end of the epoch.
#pragma once

#include <cstdint>

#include "mpi/entry/hooks.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Window;

// `sample`: the number by which its wait is measured, 0 if it is not. No record: it is measured only.
void request_track(MPI_Request request, Window* window, uint32_t record, uint64_t serial, uint64_t sample);

// The request of a get or an own write of which nothing is kept: its completion tells nothing of others.
void request_note_plain(MPI_Request request);

// The window is being freed: its requests need no tracking any more.
void requests_forget(const Window* window);

}  // namespace nearcache::mpi
