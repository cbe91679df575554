// Refuses work that cannot fit into the memory of a node, before the kernel kills a rank for it.
#pragma once

#include <mpi.h>

#include <string>

namespace apps {

/// Collective. Agrees to fail with "out of memory" if the ranks of any node together need more than
/// it has. `bytes` is what this rank is about to allocate, `what` names the work in the message.
/// An allocation succeeds on Linux even when no memory is behind it, so this has to be asked
/// beforehand.
void require_memory(MPI_Comm comm, double bytes, const std::string& what);

}  // namespace apps
