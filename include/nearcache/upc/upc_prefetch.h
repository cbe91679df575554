/* SPDX-License-Identifier: BSD-3-Clause */
/* A hint to the cache to fetch other threads' data: an extension of Nearcache. */
#ifndef NEARCACHE_UPC_UPC_PREFETCH_H
#define NEARCACHE_UPC_UPC_PREFETCH_H

#include <stddef.h>

#include "upc_declare.h"

/* Starts fetching `bytes` bytes at `from`, all in the memory of its thread, into this thread's
 * cache, where relaxed reads and upc_memget find them until the next synchronisation that acquires.
 * Does not wait, and affects no result. Does nothing for a null pointer, for threads within reach
 * of loads and stores, without a cache, or if the cache has no room for more data in flight. */
void upc_prefetch(NCUPC_SHARED_CONST from, size_t bytes);

#endif
