// The RMA engine as a layer of the functions below the cache (front/layer_stack.h): answers calls
// that concern its windows, and passes the rest on. Which functions it wraps is derived from
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
// What calls mean to those between the program and the engine has changed (straight.h).
void rma_look_again();
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

// The agent of this rank, once there is one (station.cpp).
extern std::atomic<rma::Agent*> own_agent;
void let_go() noexcept;

// A call comes by which the program waits, or looks, for others: what was asked of them goes
// before, as they may wait for that.
inline void rma_host_is_called() noexcept {
  if (own_agent.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    let_go();
}

// What is below the engine.
const RmaNext& below_engine();

class Fetches;
Fetches& engine_fetches();

}  // namespace nearcache::mpi
