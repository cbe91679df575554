// SPDX-License-Identifier: BSD-3-Clause

// The layout of the arena, the same on every PE:
//   [0, guard_bytes)              no data: an access through a null pointer to shared, or to a
//                                 member of one, faults (guard.cpp)
//   [guard_bytes, control_bytes)  the words of the runtime's own protocols (Control), never cached
//   [control_bytes, heap_start)   static shared data
//   [heap_start, arena_bytes)     the heap: global blocks grow up from its start, local ones grow
//                                 down from its end
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/round.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

constexpr int barrier_rounds = 24;  // 2^24 threads

constexpr size_t arena_alignment = 4096;
constexpr size_t guard_bytes = 4096;

struct Control {
  uint64_t unused[8];  // always 0: a target for calls whose only purpose is to enter the library
  // Dissemination barriers, [instance][parity][round]. Instance 0 is the program's, 1 the runtime's
  // own (collective allocation). See barrier.cpp.
  uint64_t barrier[2][2][barrier_rounds];
  uint64_t payload[2][barrier_rounds];  // of instance 1
  uint64_t heap;                        // the boundaries of the heap's two ends (heap.cpp)
  uint64_t freed;                       // list of this thread's blocks that others have freed
  uint64_t node;                        // the lowest thread within reach of loads and stores
  uint64_t padding[5];
  uint64_t collectives[4096];  // flags of src/upc/collectives*, all 0 at start
};
constexpr size_t control_bytes = guard_bytes + round_up(sizeof(Control), arena_alignment);
#define NCUPC_CONTROL(member) \
  (nearcache::upc::guard_bytes + offsetof(nearcache::upc::Control, member))

}  // namespace nearcache::upc
#pragma GCC visibility pop
