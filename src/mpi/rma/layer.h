// The RMA engine as a layer of the functions below the cache (front/layer_stack.h): answers what
// concerns its windows, and passes the rest on. Which functions it stands before is derived from
// entry_points.txt (entry/generate_rma.py).
#pragma once

#include <atomic>

#include "base/options.h"
#include "mpi/process/next.h"

namespace nearcache::rma {
class Agent;
}

namespace nearcache::mpi {

// Option `rma`. Once, before the first window; talks to nobody.
void rma_install(RmaUse use);
// The program may have several threads from now on.
void rma_threads_come();
// The end of MPI is next, and no window is used any more.
void rma_stop();

// The agent that is helped by who waits in the host, if there is one (station.cpp).
extern std::atomic<rma::Agent*> helped_agent;
void end_help() noexcept;

// A call has ended in which this rank waited for others.
inline void rma_host_returned() noexcept {
  if (helped_agent.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    end_help();
}

// What is below the engine.
const RmaNext& below_engine();

class Fetches;
Fetches& engine_fetches();

}  // namespace nearcache::mpi
