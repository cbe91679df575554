// SPDX-License-Identifier: BSD-3-Clause

// Nearcache's own heap, separate from the program's. Otherwise, allocations by a preloaded object
// would move the program's blocks to other addresses and so change whatever depends on these (Open
// MPI's osc_rdma_max_attach counts pages; bugs appear or disappear).
//
// Blocks have fixed size classes, four per power of two, and are reused only within their class;
// they are never merged. The address space is reserved once. A block that does not fit (or every
// block, if nothing can be reserved) comes from the program's heap (wrap_malloc.cpp).
#pragma once

#include <cstddef>

namespace nearcache::private_heap {

inline constexpr size_t alignment = 16;

// Allocates `bytes` at a multiple of `align`, which must be a power of two. Returns null if there
// is no room. Thread-safe.
void* allocate(size_t bytes, size_t align = alignment);

// Returns true if `block` belongs to this heap.
bool owns(const void* block);

// pre: owns(block).
void release(void* block);
size_t usable_bytes(const void* block);

}  // namespace nearcache::private_heap
