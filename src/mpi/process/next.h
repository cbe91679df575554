// SPDX-License-Identifier: BSD-3-Clause

// The functions below us: one plain table, filled once at startup, so that a call costs one
// indirect jump.
//
// If we are preloaded or linked as a shared library, an entry is the next MPI_X in symbol order, so
// that other tools stack with us; PMPI_X is used only if there is no MPI_X. In a static build
// (NEARCACHE_STATIC) the table holds PMPI_X from the start.
#pragma once

#include <string>

#include "front/layer_stack.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

#ifdef NEARCACHE_FAMILY_SIMGRID  // since 3.35 there is a second MPI_Init in C++, without parameters
#define NEARCACHE_NEXT(name, symbol, optional) decltype(&::P##symbol) name = nullptr;
#else
#define NEARCACHE_NEXT(name, symbol, optional) decltype(&::symbol) name = nullptr;
#endif

// One field for every row of entry_points.txt that this MPI's header declares (as #ifdef
// NEARCACHE_HAS_Put_c tells). Rows with a requirement may still be null if the program runs with
// another build of the library.
//
// One-sided communication, windows, and calls that complete requests: layers below the cache may
// replace these functions.
struct RmaNext {
#include "rma_next.inc"
};
// All other functions, which are always the host MPI's own.
struct MpiNext {
#include "mpi_next.inc"
};
#undef NEARCACHE_NEXT

struct Next : RmaNext, MpiNext {};
extern Next next;

// Inserts a layer below us (front/layer_stack.h). Must not run concurrently with calls of other
// threads.
using RmaLayer = Layer<RmaNext>;
void install(RmaLayer* layer);

// Fills the table unless that has been done. Runs when the object is loaded and, if no MPI is
// loaded by then (a Python program), again at the first MPI call. Thread-safe.
void next_fill();

// Returns whether the program's MPI is of the family that this object was built for, and all its
// functions were found. If not, every entry point already leads straight to the MPI, and this is
// the only code of ours that runs. The first call in a process prints the reason once (on rank 0
// only, if the launcher tells us the rank).
bool next_usable();

// Returns the address of the next `symbol` after ours in symbol order, or null. For symbols that
// are not in the table (Fortran's, data).
void* next_symbol(const char* symbol);

// Returns the reason why next_usable() is false; empty if it is true.
std::string next_complaint();

}  // namespace nearcache::mpi
