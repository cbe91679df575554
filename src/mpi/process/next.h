// The functions below us: one plain table, filled once at start, so that a call costs one indirect
// jump.
//
// Preloaded or linked as a shared library, the next MPI_X in symbol order is taken, so that other
// tools stack with us; PMPI_X only where no MPI_X is. In a static build (NEARCACHE_STATIC) the
// table holds PMPI_X from the start.
#pragma once

#include <string>

#include "front/layer_stack.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

#define NEARCACHE_NEXT(name, symbol, optional) decltype(&::symbol) name = nullptr;

// One field for every row of entry_points.txt that this MPI's header declares (#ifdef
// NEARCACHE_HAS_Put_c tells). Rows with a requirement may be null even then, where the library that
// the program runs with is another build.
//
// One-sided communication, windows, and what completes requests: layers below the cache may have
// functions of their own for these.
struct RmaNext {
#include "rma_next.inc"
};
// The rest, which is the host MPI's alone.
struct MpiNext {
#include "mpi_next.inc"
};
#undef NEARCACHE_NEXT

struct Next : RmaNext, MpiNext {};
extern Next next;

// Puts a layer between us and what is below (front/layer_stack.h). Not while other threads call.
using RmaLayer = Layer<RmaNext>;
void install(RmaLayer* layer);

// Fills the table if it is not filled yet. Runs when the object is loaded; if no MPI is there by
// then (a Python program), again at the first MPI call. Any thread may call it.
void next_fill();

// Whether the program's MPI is of the family that this object was built for, and its functions were
// found. If not, every entry point already leads straight to the MPI, and no code of ours but this
// runs. The first call of a process prints the reason once (rank 0 only, where the launcher tells
// us the rank).
bool next_usable();

// The address of the next `symbol` behind us, or null; for symbols that are not in the table
// (Fortran's, data).
void* next_symbol(const char* symbol);

// The reason why next_usable() is false, empty if it is true.
std::string next_complaint();

}  // namespace nearcache::mpi
