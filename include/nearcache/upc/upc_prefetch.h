/* A hint to the cache under other threads' data: an extension of Nearcache. */
#ifndef NEARCACHE_UPC_UPC_PREFETCH_H
#define NEARCACHE_UPC_UPC_PREFETCH_H

#include <stddef.h>

#include "upc_declare.h"

/* Starts fetching `bytes` bytes of the memory of the thread of `from`, from there on, into this
 * thread's cache, where relaxed reads and upc_memget find them until the next synchronisation that
 * acquires. Does not wait, and changes no result. Nothing is done for a null pointer, for threads
 * within reach of loads and stores, without a cache, and where the cache has no room for more that
 * is on its way. */
void upc_prefetch(NCUPC_SHARED_CONST from, size_t bytes);

#endif
