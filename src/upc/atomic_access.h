// One atomic access to shared memory, whoever asks for it: upc_atomic.h's domains, and Berkeley's
// bupc_atomic functions.
//
// Only fetch, set, swap, compare-and-swap and fetch_add of aligned 64-bit words are used
// underneath. Whatever is none of these is a loop of compare-and-swap; 32-bit objects are changed
// by that of the word they are in, which leaves the other half as it is. All accesses to a word, of
// its owner too, go the same way (internal.h): the processor's atomics are not atomic to every
// network's.
#pragma once

#include "upc/atomic_value.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// What the caller gave; aligned to its size.
struct Access {
  const char* file;
  int line;
  const char* name;
  AtomicType type;
  upc_op_t operation;
  size_t thread;
  uint64_t address;
  AtomicValue operand1, operand2;
  bool wants_old;

  uint64_t word() const { return address & ~uint64_t{7}; }
  unsigned shift() const { return static_cast<unsigned>(address & 7) * 8; }
};

// `fetch`, which may be null, gets the old value.
void do_access(const Access& access, void* fetch);
// The same in the order of strict accesses.
void do_strict_access(const Access& access, void* fetch);

}  // namespace nearcache::upc
#pragma GCC visibility pop
