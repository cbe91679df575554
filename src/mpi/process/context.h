// SPDX-License-Identifier: BSD-3-Clause

// The MPI front end's one context object: options, windows, and what the process knows about its
// job.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "base/immortal.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/process.h"
#include "mpi/coherence/coherence.h"
#include "mpi/mpi_api.h"
#include "mpi/process/device_memory.h"
#include "mpi/process/host_defects.h"
#include "mpi/process/observer.h"
#include "mpi/process/phases.h"
#include "mpi/process/progress.h"
#include "mpi/process/world.h"
#include "mpi/window/window_table.h"
#include "telemetry/report.h"
#include "telemetry/stats.h"

namespace nearcache::mpi {

class Window;

struct Context {
  Context();  // reads the options from the environment

  Options options;
  // what was wrong with the environment; rank 0 prints it
  std::vector<std::string> option_errors;

  WindowTable windows;
  // the most recently used window; null if there are other threads, which might free it
  Window* last_window = nullptr;
  Progress progress;
  MemoryBudget budget;
  DeviceMemory devices;
  Observer observer;

  // every message reads these two and may change them: one cache line
  alignas(64) std::atomic<int> transparent_windows{0};
  Acquires acquires;  // of the program; transparent windows serve nothing older
  Phases phases{&acquires};
  Coherence coherence;

  // Mode user means that the program promises to invalidate, which the environment cannot promise
  // on its behalf. Windows that take the mode from the environment are therefore transparent until
  // the program has called nearcache_invalidate.
  std::atomic<bool> invalidates{false};
  std::atomic<bool> invalidate_was_awaited{false};

  // Existing windows; those among them that shared memory with another window, on some rank, when
  // they were created; and dynamic windows.
  std::atomic<int> open_windows{0}, overlapping_windows{0}, dynamic_windows{0};
  // Whether two windows may have the same memory.
  bool windows_may_overlap() const {
    return overlapping_windows.load(std::memory_order_relaxed) != 0 ||
           (dynamic_windows.load(std::memory_order_relaxed) != 0 &&
            open_windows.load(std::memory_order_relaxed) > 1);
  }

  // Number of windows in mode transparent or coherent that have a cache and do not pause: an
  // acquire matters to no other before it is counted here.
  std::atomic<int> serving_windows{0};

  // Number of shared locks, of all windows, that have not been passed to MPI
  // (window/deferred_locks.h).
  std::atomic<uint32_t> locks_waiting{0};

  HomeProcess home;
  bool started = false;
  bool model_ends = false;  // MPI_Finalize has begun
  bool threaded = false;    // MPI_THREAD_MULTIPLE, from MPI_Init or any session: windows lock
  int rank = 0;
  int ranks = 1;
  uint64_t started_ns = 0;
  HostDefects host_defects;  // of the MPI library at run time
  World world;
  int sessions = 0;  // open sessions of the program
  // Returns true while MPI ends, and until a session begins.
  bool mpi_ends() const { return sessions == 0 && (model_ends || !World::model_is_open()); }

  std::mutex mutex;  // guards the members below; windows are created and freed rarely
  int64_t next_window_id = 0;
  Counters freed;  // totals of freed windows
  std::vector<WindowReport> freed_windows;
  int window_keyval = MPI_KEYVAL_INVALID;

  // The program may have learned of others' writes.
  void acquire() {
    if (transparent_windows.load(std::memory_order_relaxed) == 0) return;
    acquires.add(threaded);
    acquires.learn();
  }
  // A shared lock has been passed to MPI: what was read before may be older than another rank's
  // exclusive epoch, and nobody reports whether there was one.
  void locked() {
    if (transparent_windows.load(std::memory_order_relaxed) == 0) return;
    acquires.add(threaded);
    acquires.order();
  }
  // No window exists to which an acquire would matter.
  bool learns_nothing() const { return transparent_windows.load(std::memory_order_relaxed) == 0; }
  // Gets or own writes are complete, or a shared lock was released: this is an acquire too, unless
  // no rank is known to write.
  void completed() {
    if (learns_nothing()) return;
    if (phases.on_the_way()) [[unlikely]]
      phases.step();
    if (!phases.quiet()) acquires.add(threaded);
  }
  // Whether completed() has anything to do.
  [[gnu::always_inline]] bool completion_matters() const {
    return !learns_nothing() && (phases.on_the_way() || !phases.quiet());
  }
};

// Used by calls until the very end of the process. The reference costs nothing.
extern Immortal<Context> immortal_context;
inline constexpr Context& context = immortal_context.object;

// Whether the MPI library has this defect; known once context_start has run.
inline bool host_has(HostDefect defect) { return context.host_defects.has(defect); }

// Called when MPI_Init or a session begins: notes the time and the thread level, which each of them
// may raise. `threads`: a session has MPI_THREAD_MULTIPLE.
void context_begin(bool threads);

// Finds out rank and size, and opens what the options ask for. Called after MPI_Init, or at the
// first window of a program that only has sessions. Idempotent; communicates with no other rank.
// Within MPI_Finalize, which calls back for attributes of MPI_COMM_SELF, it opens nothing that
// would never be closed.
void context_start();

// The number of repeated gets after which a rank asks all others to tell it when they write.
// Serving one repeat saves about as much as telling two ranks costs; if many ranks keep asking, it
// matters more that none of them asks in vain, so option `quiet_after` sets an upper bound. Ranks
// are those of the job.
uint32_t repeats_before_asking();

// Limits the memory that all caches may use, by what is known about how many ranks share this node.
void context_limit_memory();

// Called before MPI, or the last session, ends: writes the report and closes the trace. In a
// program with sessions, which may begin new ones, the trace continues (`for_good` is false).
void context_stop(bool for_good);

// Gathers and writes the report of option `report`. Collective over all ranks; called before the
// end of MPI.
void context_report();

}  // namespace nearcache::mpi
