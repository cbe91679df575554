// The locks of this thread, and its nodes in their queues (lock.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "upc/held_locks.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Locks {
  HeldLocks held;
  uint64_t free_nodes = 0;  // linked through their first words
  size_t made = 0;          // by all threads together: the next one's home
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
