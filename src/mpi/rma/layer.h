// SPDX-License-Identifier: BSD-3-Clause

// The RMA engine as a layer below the cache (front/layer_stack.h): executes calls that concern its
// windows and passes all others on. The set of functions it wraps is generated from
// entry_points.txt (entry/generate_rma.py).
#pragma once

#include <atomic>

#include "base/options.h"
#include "mpi/process/next.h"
#include "rma/agent.h"

namespace nearcache::mpi {

// Applies option `rma`. Called once, before the first window; does not communicate.
void rma_install(RmaUse use);
// The program may have several threads from now on.
void rma_threads_come();
// A condition for bypassing the layers between the program and the engine has changed (straight.h).
void rma_look_again();
// Called before MPI_Finalize, or the end of the last session, when no window is used any more, or
// only those of sessions that are still open (`mpi_goes_on`).
void rma_stop(bool mpi_goes_on);
// Whether the engine does the one-sided communication of this window.
bool rma_has(MPI_Win handle);

// Whether a synchronisation that has returned this error has completed all operations, some of
// which have failed (EngineWindow::settled). The program has its buffers back.
inline bool rma_has_completed(int rc) {
  return rc == MPI_ERR_RMA_RANGE || rc == MPI_ERR_OP || rc == MPI_ERR_WIN || rc == MPI_ERR_OTHER;
}

// The agent for which a thread waiting in the host MPI polls, if there is one (station.cpp).
extern std::atomic<rma::Agent*> helped_agent;
void end_help() noexcept;

// Called after a call in which this rank waited for others. rma_was_helped(): whether that has
// anything to do.
[[gnu::always_inline]] inline bool rma_was_helped() noexcept {
  const rma::Agent* const agent = helped_agent.load(std::memory_order_acquire);
  return agent != nullptr && agent->is_helping();
}
inline void rma_host_returned() noexcept {
  if (rma_was_helped()) [[unlikely]]
    end_help();
}

// This rank's agent, once there is one (station.cpp).
extern std::atomic<rma::Agent*> own_agent;
void let_go() noexcept;

// Called before a call by which the program waits or polls for others: sends held messages first,
// because the others may be waiting for them. rma_may_let_go(): whether that has anything to do.
[[gnu::always_inline]] inline bool rma_may_let_go() noexcept {
  const rma::Agent* const agent = own_agent.load(std::memory_order_acquire);
  return agent != nullptr && agent->may_let_go();
}
inline void rma_host_is_called() noexcept {
  if (rma_may_let_go()) [[unlikely]]
    let_go();
}

// The functions below the engine.
const RmaNext& below_engine();

class Fetches;
Fetches& engine_fetches();

}  // namespace nearcache::mpi
