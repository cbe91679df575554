// Nearcache's two prefetch calls where Nearcache is in the process, nothing where it is not: the same binary runs with and without it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// As declared in nearcache/shmem.h, but weak: a null address without the library.
extern void nearcache_shmem_prefetch(const void* ptr, size_t bytes, int pe) __attribute__((weak));
extern size_t nearcache_shmem_prefetch_distance(void) __attribute__((weak));

static inline bool can_prefetch(void) { return nearcache_shmem_prefetch && nearcache_shmem_prefetch_distance; }
