// Which ranks of a window's communicator have one cache together (option share), and how they come
// to the memory of it.
#pragma once

#include <memory>
#include <string>

#include "base/options.h"
#include "cache/shared/shared_cache.h"
#include "mpi/mpi_api.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

// Collective over `comm`, as soon as one of its ranks wants to share: those of a node that do make
// one cache. `options` are this rank's, of the window. Null, and why, where this rank has one of
// its own.
std::unique_ptr<SharedCache> share_with_node(MPI_Comm comm, const Options& options,
                                             const WindowIdentity& identity, std::string* why_not);

}  // namespace nearcache::mpi
