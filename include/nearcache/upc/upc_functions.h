/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of <upc.h>, for UPC programs and for C. */
#ifndef NEARCACHE_UPC_UPC_FUNCTIONS_H
#define NEARCACHE_UPC_UPC_FUNCTIONS_H

#include <stddef.h>

#include "upc_declare.h"

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NCUPC_LOCK ncupc_ptr
#else
struct ncupc_lock;
typedef shared struct ncupc_lock upc_lock_t;
#define NCUPC_LOCK upc_lock_t*
#endif

/* Ends all threads with `status`. */
NCUPC_NORETURN void upc_global_exit(int status);

/* ---- Pointers ---- */

size_t upc_threadof(NCUPC_SHARED_ANY p);
size_t upc_phaseof(NCUPC_SHARED_ANY p);
size_t upc_addrfield(NCUPC_SHARED_ANY p);
NCUPC_SHARED upc_resetphase(NCUPC_SHARED_ANY p);
/* Returns how many bytes of an object of `total` bytes, in blocks of `block` bytes (0: all on
 * thread 0), are on `thread`. */
size_t upc_affinitysize(size_t total, size_t block, size_t thread);

/* ---- Memory. Blocks are aligned to 16 bytes, and their contents are undefined. A size of 0 gives
 * NULL; running out of memory is an error. ---- */

/* all_alloc is collective; global_alloc is called by one thread for itself. Both allocate `blocks`
 * blocks of `bytes` bytes, starting on thread 0. */
NCUPC_LINED(NCUPC_SHARED, all_alloc, (size_t blocks, size_t bytes), (blocks, bytes))
NCUPC_LINED(NCUPC_SHARED, global_alloc, (size_t blocks, size_t bytes), (blocks, bytes))
/* Allocate on this thread; communicate only when a new chunk is needed. local_alloc
 * is the older name, for blocks * bytes bytes. */
NCUPC_LINED(NCUPC_SHARED, alloc, (size_t bytes), (bytes))
NCUPC_LINED(NCUPC_SHARED, local_alloc, (size_t blocks, size_t bytes), (blocks, bytes))
/* Any thread may free a block; NULL is ignored. all_free is collective. */
NCUPC_LINED(void, free, (NCUPC_SHARED p), (p))
NCUPC_LINED(void, all_free, (NCUPC_SHARED p), (p))

/* ---- Locks: fair queues. A lock has affinity to the thread that allocated it; those of
 * upc_all_lock_alloc are spread over the threads. ---- */

NCUPC_LINED_ALONE(NCUPC_LOCK, all_lock_alloc)    /* collective */
NCUPC_LINED_ALONE(NCUPC_LOCK, global_lock_alloc) /* by one thread, for itself */
NCUPC_LINED(void, lock, (NCUPC_LOCK lock), (lock))
NCUPC_LINED(int, lock_attempt, (NCUPC_LOCK lock), (lock)) /* 1: acquired */
NCUPC_LINED(void, unlock, (NCUPC_LOCK lock), (lock))
NCUPC_LINED(void, lock_free, (NCUPC_LOCK lock), (lock))
NCUPC_LINED(void, all_lock_free, (NCUPC_LOCK lock), (lock)) /* collective */

/* ---- Copies of contiguous bytes: relaxed, and complete locally when they return. Source and
 * destination must not overlap. ---- */

void upc_memcpy(NCUPC_SHARED_RESTRICT(void) to, NCUPC_SHARED_RESTRICT(const void) from,
                size_t bytes);
void upc_memget(void* NCUPC_RESTRICT to, NCUPC_SHARED_RESTRICT(const void) from, size_t bytes);
void upc_memput(NCUPC_SHARED_RESTRICT(void) to, const void* NCUPC_RESTRICT from, size_t bytes);
void upc_memset(NCUPC_SHARED to, int value, size_t bytes);

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define upc_all_alloc(...) ncupc_all_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_global_alloc(...) ncupc_global_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_alloc(...) ncupc_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_local_alloc(...) ncupc_local_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_free(...) ncupc_free(NCUPC_HERE, __VA_ARGS__)
#define upc_all_free(...) ncupc_all_free(NCUPC_HERE, __VA_ARGS__)
#define upc_all_lock_alloc() ncupc_all_lock_alloc(NCUPC_HERE)
#define upc_global_lock_alloc() ncupc_global_lock_alloc(NCUPC_HERE)
#define upc_lock(...) ncupc_lock(NCUPC_HERE, __VA_ARGS__)
#define upc_lock_attempt(...) ncupc_lock_attempt(NCUPC_HERE, __VA_ARGS__)
#define upc_unlock(...) ncupc_unlock(NCUPC_HERE, __VA_ARGS__)
#define upc_lock_free(...) ncupc_lock_free(NCUPC_HERE, __VA_ARGS__)
#define upc_all_lock_free(...) ncupc_all_lock_free(NCUPC_HERE, __VA_ARGS__)
#endif

#endif
