// A heap of Nearcache's own, apart from the program's: what a preloaded object allocates by malloc
// moves the program's blocks to other addresses, and with them what depends on these (Open MPI's
// osc_rdma_max_attach counts pages; bugs show or hide).
//
// Blocks are of fixed sizes, four to each power of two, and are used again by blocks of the same
// size; nothing is ever merged. Its address space is reserved once; what does not fit, or where
// nothing can be reserved, is the program's heap's (wrap_malloc.cpp).
#pragma once

#include <cstddef>

namespace nearcache::private_heap {

inline constexpr size_t alignment = 16;

// `bytes` at a multiple of `align`, a power of two; null where there is no room. Any thread.
void* allocate(size_t bytes, size_t align = alignment);

// Whether `block` is one of this heap's.
bool owns(const void* block);

// Of a block of this heap.
void release(void* block);
size_t usable_bytes(const void* block);

}  // namespace nearcache::private_heap
