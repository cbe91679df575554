// SPDX-License-Identifier: BSD-3-Clause

// The shared heap in the rest of the arena: global blocks (the same offset on all threads) grow up
// from its lower end, local blocks down from its upper end.
#pragma once

#include "base/round.h"
#include "nearcache/upc_runtime.h"
#include "upc/pool.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// Both ends grow in units of pages.
constexpr size_t heap_page = 4096;
inline size_t heap_align(size_t bytes) { return round_up(bytes, heap_page); }

struct Heap {
  enum Kind { local = 0, global = 1 };
  Pool pools[2];
  size_t next_chunk[2] = {64 * 1024, 64 * 1024};
};

void heap_start();

// Allocates a block like upc_alloc, on this thread, for the runtime's own use; 0 if there is no
// room.
uint64_t heap_allocate_local(size_t bytes);

// Frees a block, or ends the program with an error of `call`.
void heap_free(const char* file, int line, const char* call, ncupc_ptr p);

}  // namespace nearcache::upc
#pragma GCC visibility pop
