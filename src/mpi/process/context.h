// The one context object of the MPI front end: options, windows, what the process knows of its job.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "base/memory.h"
#include "base/options.h"
#include "telemetry/report.h"
#include "telemetry/stats.h"
#include "mpi/mpi_api.h"
#include "mpi/process/host_defects.h"
#include "mpi/process/observer.h"
#include "mpi/process/progress.h"
#include "mpi/window/window_table.h"

namespace nearcache::mpi {

class Window;

struct Context {
  Context();  // reads the options from the environment

  Options options;
  std::vector<std::string> option_errors;  // what was wrong with the environment, for rank 0 to tell

  WindowTable windows;
  Window* last_window = nullptr;  // the one used last; only without other threads, which might free it meanwhile
  Progress progress;
  MemoryBudget budget;
  Observer observer;

  // How many acquires the program has made; transparent windows serve nothing older. Wraps after 2^32.
  std::atomic<uint32_t> acquires{1};
  std::atomic<int> transparent_windows{0};

  bool started = false;
  bool threaded = false;  // MPI_THREAD_MULTIPLE: windows lock
  int rank = 0;
  int ranks = 1;
  uint64_t started_ns = 0;
  HostDefects host_defects;        // of the MPI that runs
  std::vector<uint8_t> same_node;  // by rank of MPI_COMM_WORLD: runs on this node

  std::mutex mutex;  // covers what follows; windows are created and freed rarely
  int64_t next_window_id = 0;
  Counters freed;  // sums of windows that are gone
  std::vector<WindowReport> freed_windows;
  int window_keyval = MPI_KEYVAL_INVALID;

  void acquire() {
    if (transparent_windows.load(std::memory_order_relaxed) == 0) return;
    if (threaded) {
      acquires.fetch_add(1, std::memory_order_acq_rel);
    } else {
      acquires.store(acquires.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
};

extern Context context;

// Whether the MPI below does this wrong by itself; known from context_start on.
inline bool host_has(HostDefect defect) { return context.host_defects.has(defect); }

// Learns ranks, node and thread level as soon as MPI is initialised; idempotent. `collective` when all ranks of
// MPI_COMM_WORLD call it together: else (MPI_Init was not seen) every rank counts as far, and there is no report.
void context_start(bool collective);

// Gathers and writes the report of option `report`; collective over MPI_COMM_WORLD, before MPI_Finalize.
void context_report();

}  // namespace nearcache::mpi
