// Static shared data: modules are registered before main, placed by every thread in the same order,
// then initialised.
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

// Checks that all modules fit each other and this run, and places their data from `start` on.
// Returns the end of it.
size_t place_statics(size_t start);

// How many bytes of a thread's arena the data of all modules take with so many threads, at most.
// Places nothing.
size_t measure_statics(int threads);

// The arena is there: zeroes this thread's part, stores the initial values it owns, and tells
// Nearcache the variables' names.
void initialise_statics();

}  // namespace nearcache::upc
#pragma GCC visibility pop
