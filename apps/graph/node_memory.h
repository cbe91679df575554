// SPDX-License-Identifier: BSD-3-Clause

// Refuses work that cannot fit into a node's memory, before the kernel kills a rank for it.
#pragma once

#include <mpi.h>

#include <string>

namespace apps {

/// Collective. Fails on all ranks with "out of memory" if the ranks of any node together need more
/// than the node has. `bytes` is what this rank is about to allocate; `what` names the work in the
/// message. The check must come beforehand because on Linux an allocation succeeds even if no
/// memory backs it.
void require_memory(MPI_Comm comm, double bytes, const std::string& what);

}  // namespace apps
