/* SPDX-License-Identifier: BSD-3-Clause */
/* Nearcache for OpenSHMEM: what a program may call besides OpenSHMEM itself. None of it is needed:
 * preloading libnearcache_shmem.so, or linking it before the OpenSHMEM library, already caches the
 * gets and puts of an unmodified program, under the contract of docs/semantics-openshmem.md.
 *
 * A program that uses this header also runs without the library: each function checks whether the
 * library is present (its symbols are weak references), and does nothing if it is not. Nothing
 * needs to be linked. One restriction: in an executable linked with -no-pie the linker resolves
 * absent weak symbols for good, so either link the library or compile with -fPIE (the default on
 * most systems).
 *
 * All functions are local: none communicates with another PE's program, and none is collective.
 * They may be called between shmem_init and shmem_finalize; at other times they do nothing. Under
 * SHMEM_THREAD_MULTIPLE any thread may call them at any time; under lower thread levels the rules
 * for OpenSHMEM calls apply. Addresses are symmetric: where the object lies in the calling PE.
 * Sizes are in bytes. */
#ifndef NEARCACHE_SHMEM_H
#define NEARCACHE_SHMEM_H

#include <shmem.h>
#include <stddef.h>

#include "nearcache/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return values of the functions that may fail. */
enum {
  NEARCACHE_SHMEM_OK = 0,
  NEARCACHE_SHMEM_ARGUMENT = 1, /* no such memory, context or struct: nothing was done */
  /* no library, switched off, or not between init and finalize: nothing is cached anyway */
  NEARCACHE_SHMEM_ABSENT = 2
};

/* The library's own symbols. Programs call the functions below. */
#if defined(__GNUC__)
#define NEARCACHE_SHMEM_WEAK __attribute__((weak, visibility("default")))
#else
#define NEARCACHE_SHMEM_WEAK
#endif
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_caching(void);
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_uncached(const void* ptr, size_t bytes);
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_ctx_uncached(shmem_ctx_t ctx);
NEARCACHE_SHMEM_WEAK void nearcache_shmem_impl_prefetch(const void* ptr, size_t bytes, int pe);
NEARCACHE_SHMEM_WEAK size_t nearcache_shmem_impl_prefetch_distance(void);
NEARCACHE_SHMEM_WEAK void nearcache_shmem_impl_acquire(void);
NEARCACHE_SHMEM_WEAK void nearcache_shmem_impl_acquire_by(const char* call);
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_name(const void* ptr, size_t bytes, const char* name);
NEARCACHE_SHMEM_WEAK void nearcache_shmem_impl_release(void);
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_set_relaxed_atomics(int relaxed);
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_set_unordered(int unordered);
NEARCACHE_SHMEM_WEAK int nearcache_shmem_impl_stats(nearcache_stats* stats);

/* Returns 1 if the default context has a cache, else 0: without the library, if switched off,
 * before shmem_init or after shmem_finalize, if max_storage leaves no memory for a cache, and after
 * nearcache_shmem_ctx_uncached(SHMEM_CTX_DEFAULT). Creates the cache if no access has created it
 * yet. Once it has returned 1, accesses of this PE through the default context keep their program
 * order until shmem_finalize or nearcache_shmem_ctx_uncached: a get returns what was put, and of
 * two puts to the same bytes the later one prevails, even for accesses that bypass the cache
 * (uncached ranges, large or strided transfers, atomics). After 0 the caller must ensure this, as
 * with OpenSHMEM alone: shmem_fence between two puts, shmem_quiet between a put and a get. */
static inline int nearcache_shmem_caching(void) {
  return nearcache_shmem_impl_caching ? nearcache_shmem_impl_caching() : 0;
}

/* Accesses of this PE to [ptr, ptr + bytes) of any PE go straight to the network from now on: for
 * flags, counters and queues that PEs poll or update without a call from the contract's table. The
 * range is rounded outwards to whole lines (option shmem_line), and stays uncached until the end of
 * the program, even if its block is freed. What was written to it is complete when the call
 * returns, except for what other threads wrote through their private contexts: they must call
 * shmem_ctx_quiet first. Every PE that accesses the range must make this call itself. It costs a
 * quiet of each context, and from then on a search of a sorted list per access that misses; a few
 * hundred ranges are fine. Errors: NEARCACHE_SHMEM_ARGUMENT if the range is empty or not symmetric
 * memory that the library knows; NEARCACHE_SHMEM_ABSENT. */
static inline int nearcache_shmem_uncached(const void* ptr, size_t bytes) {
  return nearcache_shmem_impl_uncached ? nearcache_shmem_impl_uncached(ptr, bytes)
                                       : NEARCACHE_SHMEM_ABSENT;
}

/* Accesses through `ctx` go straight to the network until it is destroyed; SHMEM_CTX_DEFAULT is
 * allowed. What was written through it is complete when the call returns, and its cache is
 * released. Errors: NEARCACHE_SHMEM_ARGUMENT for a context that the library does not know;
 * NEARCACHE_SHMEM_ABSENT. */
static inline int nearcache_shmem_ctx_uncached(shmem_ctx_t ctx) {
  return nearcache_shmem_impl_ctx_uncached ? nearcache_shmem_impl_ctx_uncached(ctx)
                                           : NEARCACHE_SHMEM_ABSENT;
}

/* A hint that [ptr, ptr + bytes) of `pe` will be read soon through the default context: starts
 * fetching what is not cached, and returns at once. It never faults and never waits: it does
 * nothing if the range is not symmetric memory, the PE does not exist or is within reach of loads
 * and stores, or there is no room; a range beyond the end of its segment is clipped. Prefetched
 * data becomes usable at its first read, and an acquire drops it like data that was read (section
 * III.C of the paper on the cache for remote data). */
static inline void nearcache_shmem_prefetch(const void* ptr, size_t bytes, int pe) {
  if (nearcache_shmem_impl_prefetch) nearcache_shmem_impl_prefetch(ptr, bytes, pe);
}

/* How many accesses ahead of their use a loop should prefetch: 64, or as many as have room, judging
 * by the size of the last prefetch. So ask again now and then, such as every 16th iteration.
 * Returns 0 without the library. */
static inline size_t nearcache_shmem_prefetch_distance(void) {
  return nearcache_shmem_impl_prefetch_distance ? nearcache_shmem_impl_prefetch_distance() : 0;
}

/* An explicit acquire, for programs that learn of other PEs' writes by other means than the calls
 * in the contract's table (loads from their own memory, files, MPI): nothing that was read before
 * is served after. Affects all contexts of the process; O(1). */
static inline void nearcache_shmem_acquire(void) {
  if (nearcache_shmem_impl_acquire) nearcache_shmem_impl_acquire();
}

/* Like nearcache_shmem_acquire, for runtimes on top of OpenSHMEM: reports and messages name the
 * acquire `call`, a string that must never be freed. */
static inline void nearcache_shmem_acquire_by(const char* call) {
  if (nearcache_shmem_impl_acquire_by)
    nearcache_shmem_impl_acquire_by(call);
  else
    nearcache_shmem_acquire(); /* an older library */
}

/* An explicit release: everything that was written through contexts which this thread may use is
 * complete at its target. It costs a quiet of each context. */
static inline void nearcache_shmem_release(void) {
  if (nearcache_shmem_impl_release) nearcache_shmem_impl_release();
}

/* Gives [ptr, ptr + bytes) a name for reports and messages, instead of "block 3 of the symmetric
 * heap (4096 B)". The text is copied; a name for an overlapping range replaces the earlier one.
 * Names disappear with their block when it is freed. A report adds up what PEs give the same name,
 * so all of them should make the call. Errors: NEARCACHE_SHMEM_ARGUMENT if the range is empty or
 * not symmetric memory that the library knows, or the name is null or empty;
 * NEARCACHE_SHMEM_ABSENT. */
static inline int nearcache_shmem_name(const void* ptr, size_t bytes, const char* name) {
  return nearcache_shmem_impl_name ? nearcache_shmem_impl_name(ptr, bytes, name)
                                   : NEARCACHE_SHMEM_ABSENT;
}

/* Sets option shmem_relaxed_atomics for the whole process: nonzero says that fetching atomics do
 * not synchronise in this program (a sum, a mark "visited"), so that they only drop the bytes they
 * overlap; 0 makes each an acquire. Returns the previous value, 0 or 1; 0 without the library. */
static inline int nearcache_shmem_set_relaxed_atomics(int relaxed) {
  return nearcache_shmem_impl_set_relaxed_atomics
             ? nearcache_shmem_impl_set_relaxed_atomics(relaxed)
             : 0;
}

/* For runtimes on top of OpenSHMEM that do their own ordering, as Nearcache's UPC runtime does.
 * After a call with nonzero, the calling thread's atomics (shmem_atomic_*), non-blocking gets and
 * tests (shmem_test*) imply no ordering until it calls this with 0. They do not start write-back
 * and do not acquire; they drop from the caches only the lines that they change, and come after
 * what this thread wrote there through the same context. The thread must then call shmem_quiet or
 * nearcache_shmem_release before an operation that is to release, and nearcache_shmem_acquire after
 * one that is to acquire. Write-back is still started occasionally while the thread spins on
 * atomics, but not while it spins on tests. All other calls keep their meaning. Each thread begins
 * with 0. Costs as much as storing a flag. Returns the previous value; 0 without the library. */
static inline int nearcache_shmem_set_unordered(int unordered) {
  return nearcache_shmem_impl_set_unordered ? nearcache_shmem_impl_set_unordered(unordered) : 0;
}

/* Fills `stats` with the counters of this process, summed over all contexts, including destroyed
 * ones. Set stats->size first. Errors: NEARCACHE_SHMEM_ARGUMENT (stats is null, or the size too
 * small); NEARCACHE_SHMEM_ABSENT, and *stats is unchanged. */
static inline int nearcache_shmem_stats(nearcache_stats* stats) {
  return nearcache_shmem_impl_stats ? nearcache_shmem_impl_stats(stats) : NEARCACHE_SHMEM_ABSENT;
}

#ifdef __cplusplus
}
#endif
#endif
