// SPDX-License-Identifier: BSD-3-Clause

// Puts and accumulates: passed to MPI, and noted so that no entry older than one of our own writes
// is served. Shared by their generated entry points.
#pragma once

#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/window/plain_hit.h"

namespace nearcache::mpi {

// For a window that is paused.
inline void write_unnoted(Window& window, TraceWrite kind, int target) {
  if (kind == TraceWrite::fetch) window.fetch_begins();
  window.write_passes(target);
  window.count_write(kind);
}

// Handles a write that goes to MPI unnoted (window.h) and that no reader needs to be told of.
[[gnu::always_inline]] inline bool write_passes(Window* window, MPI_Win handle, TraceWrite kind,
                                                int target) {
  if (window == nullptr || window->handle() != handle || !window->paused() ||
      context.phases.somebody_reads() || locks_wait())
    return false;
  if (context.coherence.somebody_reads()) [[unlikely]]
    return false;
  write_unnoted(*window, kind, target);
  return true;
}

// Like write_passes(), with fewer checks.
[[gnu::always_inline]] inline bool write_plainly_passes(Window* window, MPI_Win handle,
                                                        TraceWrite kind, int target) {
  if (!passes_plainly(window, handle)) return false;
  write_unnoted(*window, kind, target);
  return true;
}

// The write is noted before it is issued, because once MPI has it the data may change at any time,
// and again afterwards, because a synchronisation by another thread that began in between does not
// complete it. The entry point has called note_write() before.
template <class Issue>
int noted_write(MPI_Win handle, TraceWrite kind, int target, MPI_Aint displacement, MPI_Count count,
                MPI_Datatype type, Issue issue) {
  Window* window = find_window(handle);
  take_waiting_locks();
  context.phases.writing();
  if (window == nullptr) return issue();
  const Window::Write write = window->describe_write(target, displacement, count, type);
  if (window->coherent() != nullptr) window->announce_write(write);
  if (window->paused()) {
    write_unnoted(*window, kind, target);
    return issue();
  }
  if (window->locks_deferred()) [[unlikely]] {
    if (const int rc = window->take_locks(write.target); rc != MPI_SUCCESS) return rc;
  }
  context.progress.called();
  bool noted = false;
  {
    const WindowLock lock(window->mutex());
    if (kind == TraceWrite::fetch) window->fetch_begins();
    window->count_write(kind);
    if (window->observed()) window->observe_write(kind, write);
    if (window->caching()) {
      noted = true;
      window->write_begins(write);
    } else {
      window->write_issued_uncached(target);
    }
  }
  const int rc = issue();
  const WindowLock lock(window->mutex());
  if (noted) window->write_issued(write);
  window->maybe_pause_of_others();
  return rc;
}

}  // namespace nearcache::mpi
