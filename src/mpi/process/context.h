// The MPI front end's one context object: options, windows, what the process knows of its
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
  // what was wrong with the environment, for rank 0 to tell
  std::vector<std::string> option_errors;

  WindowTable windows;
  // the one used last; only without other threads, which might free it meanwhile
  Window* last_window = nullptr;
  Progress progress;
  MemoryBudget budget;
  DeviceMemory devices;
  Observer observer;

  // each message looks at these two and may change them: one cache line
  alignas(64) std::atomic<int> transparent_windows{0};
  Acquires acquires;  // of the program; transparent windows serve nothing older
  Phases phases{&acquires};
  Coherence coherence;

  // Mode user promises that the program invalidates, which the environment cannot promise for it:
  // windows that have the mode from there are transparent until the program has called
  // nearcache_invalidate.
  std::atomic<bool> invalidates{false};
  std::atomic<bool> invalidate_was_awaited{false};

  // Windows that there are; of these, those that have memory of another one, of some rank, when
  // they are made, and dynamic ones.
  std::atomic<int> open_windows{0}, overlapping_windows{0}, dynamic_windows{0};
  // Two windows may have the same memory.
  bool windows_may_overlap() const {
    return overlapping_windows.load(std::memory_order_relaxed) != 0 ||
           (dynamic_windows.load(std::memory_order_relaxed) != 0 &&
            open_windows.load(std::memory_order_relaxed) > 1);
  }

  // Shared locks that have not gone down, of all windows (window/deferred_locks.h), and how many
  // there ever were.
  std::atomic<uint32_t> locks_waiting{0};
  std::atomic<uint64_t> locks_numbered{0};

  HomeProcess home;
  bool started = false;
  bool model_ends = false;  // MPI_Finalize has begun
  bool threaded = false;    // MPI_THREAD_MULTIPLE, in MPI_Init or in any session: windows lock
  int rank = 0;
  int ranks = 1;
  uint64_t started_ns = 0;
  HostDefects host_defects;  // of the MPI that runs
  World world;
  int sessions = 0;  // of the program, that are open

  std::mutex mutex;  // covers what follows; windows are created and freed rarely
  int64_t next_window_id = 0;
  Counters freed;  // sums of windows that are gone
  std::vector<WindowReport> freed_windows;
  int window_keyval = MPI_KEYVAL_INVALID;

  // The program may have learned of others' writes.
  void acquire() {
    if (transparent_windows.load(std::memory_order_relaxed) == 0) return;
    acquires.add(threaded);
    acquires.learn();
  }
  // A shared lock has gone down: what was read before it may be older than another rank's exclusive
  // epoch. Whether there was one nobody said.
  void locked() {
    if (transparent_windows.load(std::memory_order_relaxed) != 0) acquires.add(threaded);
  }
  // There is no window to which what follows would matter.
  bool learns_nothing() const { return transparent_windows.load(std::memory_order_relaxed) == 0; }
  // Gets, or own writes, are complete, or a shared lock was given back: an acquire too, unless
  // nobody is known to write.
  void completed() {
    if (learns_nothing()) return;
    if (phases.on_the_way()) [[unlikely]]
      phases.step();
    if (!phases.quiet()) acquires.add(threaded);
  }
};

// Used by calls until the very end of the process: a name for it that costs nothing.
extern Immortal<Context> immortal_context;
inline constexpr Context& context = immortal_context.object;

// Whether the MPI below does this wrong by itself; known from context_start on.
inline bool host_has(HostDefect defect) { return context.host_defects.has(defect); }

// MPI_Init or a session has begun: notes the time, and the thread level, which any of them may
// raise. `threads`: a session has MPI_THREAD_MULTIPLE.
void context_begin(bool threads);

// Learns rank and size, and opens what the options ask for: after MPI_Init, or for a program's
// first window where it has sessions only. Idempotent. Talks to no other rank. Within MPI_Finalize,
// which calls back for attributes of MPI_COMM_SELF, it opens nothing that nobody would close.
void context_start();

// Repeats of gets after which a rank asks all others to tell it when they write. A repeat that is
// served saves about what it costs to tell two ranks; where many ask again and again, it matters
// more that nobody asks in vain, so option `quiet_after` bounds it. Ranks are those of the job.
uint32_t repeats_before_asking();

// What caches may use together, as far as it is known how many ranks share this node.
void context_limit_memory();

// The end of MPI is next, or that of the last session: writes the report, closes the trace. A trace
// of sessions goes on (not `for_good`), as a program may begin new ones.
void context_stop(bool for_good);

// Gathers and writes the report of option `report`; collective over all ranks, before the end of
// MPI.
void context_report();

}  // namespace nearcache::mpi
