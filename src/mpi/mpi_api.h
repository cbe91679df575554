// SPDX-License-Identifier: BSD-3-Clause

// Every file of the library that needs mpi.h includes it through this header.
//
// In the preload object, our definitions of MPI_X have the link names caching_MPI_X. The exported
// MPI_X are trampolines (trampoline.h), so that an object that does not fit the program's MPI can
// take itself out of the path. Open MPI's predefined handles are addresses of objects in its
// library, which may not be loaded yet when our object is. They are looked up at startup (next.h),
// so MPI_INT, MPI_COMM_WORLD and the like must not be used in static initialisers.
//
// Code that neither defines an entry point nor looks up the functions below us is compiled once for
// both the object and the archive.
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
