// Switches and counts of shim_mpi, which some tests preload below Nearcache.
#ifndef NEARCACHE_TESTS_SHIM_H
#define NEARCACHE_TESTS_SHIM_H

#include <dlfcn.h>

// Calls a function of shim_mpi. Without the shim (a run on the host alone) nothing fails, nothing
// waits and nothing is counted.
template <class... Arguments>
long shim(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<long (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr ? function(arguments...) : 0;
}

inline bool shimmed() { return dlsym(RTLD_DEFAULT, "shim_fail") != nullptr; }

#endif
