// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/host_turns.h"

#include "base/clock.h"
#include "mpi/rma/layer.h"

namespace nearcache::mpi {

bool HostTurns::look() {
  static const uint64_t between = ns_to_ticks(100000);  // the host takes 1% of that
  if (context.threaded) {
    left_of_threads_ = calls;
  } else {
    left_ = calls;
  }
  const uint64_t now = clock_ticks();
  if (now - called_at_ < between) return false;
  called_at_ = now;
  context.progress.turn();
  rma_host_returned();
  return true;
}

}  // namespace nearcache::mpi
