// SPDX-License-Identifier: BSD-3-Clause

// The functions of nearcache/mpi.h.
#include "nearcache/mpi.h"

#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/window/window.h"
#include "telemetry/fill_stats.h"

namespace nearcache::mpi {
namespace {

Window* find(MPI_Win win) { return next_usable() ? context.windows.find(win) : nullptr; }

Counters of_process() {
  std::unique_lock at_once(context.mutex);
  Counters sum = context.freed;
  const WindowTable::All windows = context.windows.all();
  at_once.unlock();
  for (Window* window : windows) {
    const WindowLock lock(window->mutex());
    Counters counters;
    window->fill_counters(&counters);
    sum += counters;
  }
  return sum;
}

void first_invalidation() {
  context.invalidates = true;
  for (Window* window : context.windows.all()) {
    window->confirm_served(nearcache::Targets::all());
    const WindowLock lock(window->mutex());
    window->program_invalidates();
  }
}

}  // namespace
}  // namespace nearcache::mpi

using namespace nearcache::mpi;

extern "C" {

int nearcache_invalidate(MPI_Win win) {
  if (!context.invalidates.load(std::memory_order_relaxed)) first_invalidation();
  Window* window = find(win);
  if (window == nullptr) return MPI_ERR_WIN;
  const WindowLock lock(window->mutex());
  window->invalidate();
  if (window->observed())
    window->observe_sync(nearcache::TraceSync::invalidate, nearcache::Targets::all());
  return MPI_SUCCESS;
}

int CLAMPI_Invalidate(MPI_Win win) { return nearcache_invalidate(win); }

int nearcache_get_stats(MPI_Win win, nearcache_stats* stats) {
  if (stats == nullptr) return MPI_ERR_ARG;
  nearcache::Counters counters;
  if (next_usable() && win == MPI_WIN_NULL) {
    counters = of_process();
  } else {
    Window* window = find(win);
    if (window == nullptr) return MPI_ERR_WIN;
    const WindowLock lock(window->mutex());
    window->fill_counters(&counters);
  }
  return nearcache::fill_stats(stats, counters) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int nearcache_get_mode(MPI_Win win, nearcache_mode* mode) {
  Window* window = find(win);
  if (window == nullptr) return MPI_ERR_WIN;
  if (mode == nullptr) return MPI_ERR_ARG;
  const WindowLock lock(window->mutex());
  *mode = static_cast<nearcache_mode>(window->caching() ? window->mode() : nearcache::Mode::off);
  return MPI_SUCCESS;
}

int nearcache_set_mode(MPI_Win win, nearcache_mode mode) {
  Window* window = find(win);
  if (window == nullptr) return MPI_ERR_WIN;
  if (mode < NEARCACHE_MODE_OFF || mode > NEARCACHE_MODE_COHERENT) return MPI_ERR_ARG;
  if (const int rc = window->confirm_served(nearcache::Targets::all()); rc != MPI_SUCCESS)
    return rc;
  const WindowLock lock(window->mutex());
  if (mode != NEARCACHE_MODE_OFF && !window->obstacle().empty()) return MPI_ERR_ARG;
  window->mode_is_named();
  window->set_mode(static_cast<nearcache::Mode>(mode));
  context.observer.window_mode(window->identity().id, static_cast<uint8_t>(mode));
  return MPI_SUCCESS;
}

int nearcache_reset(MPI_Win win) {
  Window* window = find(win);
  if (window == nullptr) return MPI_ERR_WIN;
  const WindowLock lock(window->mutex());
  window->reset();
  return MPI_SUCCESS;
}

}  // extern "C"
