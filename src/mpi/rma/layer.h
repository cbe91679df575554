// The RMA engine as a layer of the functions below the cache (front/layer_stack.h): answers what
// concerns its windows, and passes the rest on. Which functions it stands before is derived from
// entry_points.txt (entry/generate_rma.py).
#pragma once

#include "base/options.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// Option `rma`. Once, before the first window; talks to nobody.
void rma_install(RmaUse use);
// The program may have several threads from now on.
void rma_threads_come();
// The end of MPI is next, and no window is used any more.
void rma_stop();

// What is below the engine.
const RmaNext& below_engine();

class Fetches;
Fetches& engine_fetches();

}  // namespace nearcache::mpi
