// SPDX-License-Identifier: BSD-3-Clause

// The locks that this thread holds, and its nodes in the locks' queues (lock.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "upc/held_locks.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Locks {
  HeldLocks held;
  uint64_t free_nodes = 0;  // linked through their first words
  size_t made = 0;          // created collectively: determines the home of the next one
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
