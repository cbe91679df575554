// SPDX-License-Identifier: BSD-3-Clause
#include "nearcache_calls.h"

#include <dlfcn.h>

#include "nearcache/mpi.h"

// Weak: the addresses are null unless the library is linked. Whether a preloaded library resolves
// such a null reference depends on the linker, so the dynamic loader is asked as well.
#pragma weak nearcache_invalidate
#pragma weak nearcache_get_stats

namespace apps {
namespace {

template <class Function>
Function* found(Function* linked, const char* name) {
  return linked != nullptr ? linked : reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void invalidate(MPI_Win window) {
  if (auto* call = found(&nearcache_invalidate, "nearcache_invalidate")) call(window);
}

std::optional<nearcache_stats> cache_statistics(MPI_Win window) {
  auto* call = found(&nearcache_get_stats, "nearcache_get_stats");
  nearcache_stats stats{};
  stats.size = sizeof stats;
  if (call == nullptr || call(window, &stats) != MPI_SUCCESS) return std::nullopt;
  return stats;
}

}  // namespace apps
