// SPDX-License-Identifier: BSD-3-Clause

// Static shared data. Modules are registered before main; every thread places them in the same
// order, then they are initialised.
#pragma once

#include <cstddef>

#include "nearcache/upc_runtime.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Statics {
  // A variable that has been placed.
  struct Placed {
    const ncupc_ptr* variable;
    const char* name;
    size_t size, count, block;
    const char* file;
    int line;
  };

  ncupc_module* first_module = nullptr;
  ncupc_module** last_link = &first_module;
  Placed* placed = nullptr;
  size_t number_placed = 0, room = 0;
  size_t place_at = 0, placed_end = 0;
  bool measuring = false;
};

// Checks that all modules are compatible with each other and with this run, and places their data
// from `start` on. Returns the end of the data.
size_t place_statics(size_t start);

// Returns an upper bound of the bytes that the data of all modules take in each thread's arena with
// `threads` threads. Places nothing.
size_t measure_statics(int threads);

// Called once the arena exists: zeroes this thread's part, stores the initial values of the
// elements it owns, and tells Nearcache the variables' names.
void initialise_statics();

}  // namespace nearcache::upc
#pragma GCC visibility pop
