// SPDX-License-Identifier: BSD-3-Clause

// The table of the library functions below us, filled once at start, so that a call costs one
// indirect jump.
//
// If we are preloaded or linked as a shared library, the table holds the next shmem_x in symbol
// order, so that other tools can be stacked with us; pshmem_x is used only if there is no shmem_x.
// In a static build (NEARCACHE_STATIC) the table holds pshmem_x from the start.
#pragma once

#include <string>

#include "front/layer_stack.h"
#include "shmem/shmem_api.h"

#pragma GCC visibility push(hidden)
namespace nearcache::shmem {

// One field for every row of entry_points.txt that this OpenSHMEM's header declares (see #ifdef
// NEARCACHE_SHMEM_HAS_put_signal): shmem_long_g is next.long_g, shmemx_int32_g is next.x_int32_g,
// shmalloc is next.old_shmalloc. A field is null if the library that the program runs with, which
// may be another build than the header's, lacks the function.
struct Next {
#define NEARCACHE_NEXT(field, symbol, twinless) decltype(&::symbol) field;
#include "next_fields.inc"
#undef NEARCACHE_NEXT
};
extern Next next;

// Puts a layer between us and the library (front/layer_stack.h). Not while other threads make
// calls.
using NextLayer = Layer<Next>;
void install(NextLayer* layer);

// Fills the table unless it is filled already. Runs when the object is loaded and, if no OpenSHMEM
// is loaded by then, again at the first call. Any thread may call it.
void next_fill();

// True if there is an OpenSHMEM library that we can work with. Otherwise nothing may be cached, but
// calls still pass through.
bool next_usable();

// The reason why next_usable() is false; empty if it is true.
std::string next_complaint();

// The address of the next `symbol` behind us, or null; for symbols that are not in the table.
void* next_symbol(const char* symbol);

}  // namespace nearcache::shmem
#pragma GCC visibility pop
