// The one way that the library includes mpi.h.
//
// In the preload object our MPI_X carry other link names, caching_MPI_X: the exported MPI_X are
// trampolines (trampoline.h), so that an object that does not fit the program's MPI can step aside.
// And Open MPI's predefined handles are addresses of objects in its library, which need not be
// loaded when we are: they are looked up at start (next.h), so MPI_INT, MPI_COMM_WORLD and the like
// may not be used in static initialisers.
//
// What neither defines an entry point nor looks for the functions below us is compiled once for the
// object and the archive.
#pragma once

#include "declared.h"
#include "mpi/entry/trampoline.h"

#if NEARCACHE_TRAMPOLINES && !defined(NEARCACHE_STATIC)
#include "rename.h"
#endif

#pragma GCC visibility push(default)
#include <mpi.h>
#include "extensions.h"
#pragma GCC visibility pop

#ifdef NEARCACHE_FAMILY_OPENMPI
namespace nearcache::mpi {
struct Predefined {
#define NEARCACHE_PREDEFINED(name) void* name = nullptr;
#include "predefined.inc"
#undef NEARCACHE_PREDEFINED
};
extern Predefined predefined;
}  // namespace nearcache::mpi
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(::nearcache::mpi::predefined.global))
#endif

// SimGrid's MPI_Compare_and_swap takes the compared value as plain void*.
#ifdef NEARCACHE_FAMILY_SIMGRID
#define NEARCACHE_COMPARE_CONST
#else
#define NEARCACHE_COMPARE_CONST const
#endif
