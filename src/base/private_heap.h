// Nearcache's own heap, separate from the program's: allocations by a preloaded object would move
// the program's blocks to other addresses, and change whatever depends on these (Open MPI's
// osc_rdma_max_attach counts pages; bugs appear or disappear).
//
// Blocks have fixed sizes, four to each power of two, and are reused for blocks of the same size;
// they are never merged. The address space is reserved once; what does not fit, or everything if
// nothing can be reserved, comes from the program's heap (wrap_malloc.cpp).
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
