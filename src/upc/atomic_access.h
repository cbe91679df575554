// SPDX-License-Identifier: BSD-3-Clause

// One atomic access to shared memory, for the domains of upc_atomic.h and for Berkeley's
// bupc_atomic functions.
//
// The library below is only asked for fetch, set, swap, compare-and-swap and fetch_add of aligned
// 64-bit words. Every other operation is a compare-and-swap loop; a 32-bit object is changed by
// compare-and-swap of the word that contains it, which leaves the other half unchanged. All
// accesses to a word, its owner's included, use the same mechanism (internal.h), because the
// processor's atomics and the network's may not be atomic with respect to each other.
#pragma once

#include "upc/atomic_value.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// The caller's arguments. The address is aligned to the object's size.
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

// Stores the old value in `fetch`, which may be null.
void do_access(const Access& access, void* fetch);
// Like do_access(), but ordered as a strict access.
void do_strict_access(const Access& access, void* fetch);

}  // namespace nearcache::upc
#pragma GCC visibility pop
