// SPDX-License-Identifier: BSD-3-Clause

// The runtime's global state: what its parts know about the program and this thread. Each part has
// a member of its own and changes no other. The object exists before main, when files register
// their static data; start.cpp starts the parts one after another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/process.h"
#include "upc/barrier.h"
#include "upc/copies.h"
#include "upc/guard.h"
#include "upc/heap.h"
#include "upc/in_flight.h"
#include "upc/locks.h"
#include "upc/messages.h"
#include "upc/polls.h"
#include "upc/statics.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Runtime {
  char* arena = nullptr;  // this thread's arena; the symmetric address of the others'
  size_t arena_bytes = 0;
  size_t heap_start = 0;
  HomeProcess home;
  bool started = false;  // between the start and the end of the program
  bool ending = false;
  bool all_near = false;  // every thread reaches every other by loads and stores
  bool any_far = false;   // this thread cannot reach some other thread
  // collective calls that this thread has begun: allocations, and those of upc_collective.h
  uint32_t collective_calls = 0;

  Statics statics;
  Guard guard;
  InFlight in_flight;
  Polls polls;
  Barriers barriers;
  Mailboxes mailboxes;
  Heap heap;
  Locks locks;
  Copies copies;
};
extern Runtime runtime;

}  // namespace nearcache::upc
#pragma GCC visibility pop
