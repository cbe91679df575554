/* Nearcache for OpenSHMEM: what a program may call besides OpenSHMEM itself. None of it is needed:
 * preloading libnearcache_shmem.so, or linking it before the OpenSHMEM library, already caches the
 * gets and puts of an unmodified program, under the contract of docs/semantics-openshmem.md.
 *
 * A program that uses this header runs without the library too: each function looks whether the
 * library is there (its symbols are weak references), and does nothing if it is not. Nothing needs
 * to be linked. One restriction: in an executable that is linked with -no-pie the linker settles
 * absent weak symbols for good, so either link the library or compile with -fPIE (the default of
 * most systems).
 *
 * All functions are local: none communicates with another PE's program, and none is collective.
 * They may be called between shmem_init and shmem_finalize; outside of it they do nothing. Under
 * SHMEM_THREAD_MULTIPLE any thread may call them at any time; below, the rules are those of
 * OpenSHMEM calls. Addresses are symmetric ones: where the object lies in the calling PE. Sizes are
 * in bytes. */
#ifndef NEARCACHE_SHMEM_H
#define NEARCACHE_SHMEM_H

#include <shmem.h>
#include <stddef.h>

#include "nearcache/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return that may fail. */
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

/* 1 if the default context has a cache, else 0: without the library, switched off, before
 * shmem_init or after shmem_finalize, where there is no memory for a cache within max_storage, and
 * after nearcache_shmem_ctx_uncached(SHMEM_CTX_DEFAULT). The cache is made by this call if no
 * access has made it yet. After it has returned 1, accesses of this PE through the default context
 * keep their program order until shmem_finalize or nearcache_shmem_ctx_uncached: what was put is
 * what is got, and of two puts to the same bytes the later one stays, also past the cache (uncached
 * ranges, large or strided transfers, atomics). After 0 it is the caller who sees to that, as with
 * OpenSHMEM alone: by shmem_fence between two puts, and by shmem_quiet between a put and a get. */
static inline int nearcache_shmem_caching(void) {
  return nearcache_shmem_impl_caching ? nearcache_shmem_impl_caching() : 0;
}

/* Accesses of this PE to [ptr, ptr + bytes) of any PE go straight to the network from now on: for
 * flags, counters and queues that PEs poll or update without a call of the contract's table. The
 * range is rounded outwards to whole lines (option shmem_line), and stays uncached to the end of
 * the program, also when its block is freed. What was written to it is complete when the call
 * returns, but for what other threads wrote through private contexts of theirs: they call
 * shmem_ctx_quiet first. Every PE that accesses it calls this itself. The cost is that of a quiet
 * of each context, and a search of a sorted list per access that misses; a few hundred ranges are
 * fine. Errors: NEARCACHE_SHMEM_ARGUMENT if the range is empty or not symmetric memory that the
 * library knows; NEARCACHE_SHMEM_ABSENT. */
static inline int nearcache_shmem_uncached(const void* ptr, size_t bytes) {
  return nearcache_shmem_impl_uncached ? nearcache_shmem_impl_uncached(ptr, bytes)
                                       : NEARCACHE_SHMEM_ABSENT;
}

/* Accesses through `ctx` go straight to the network until it is destroyed; SHMEM_CTX_DEFAULT is
 * allowed. What was written through it is complete when the call returns, and its cache is given
 * back. Errors: NEARCACHE_SHMEM_ARGUMENT for a context that the library does not know;
 * NEARCACHE_SHMEM_ABSENT. */
static inline int nearcache_shmem_ctx_uncached(shmem_ctx_t ctx) {
  return nearcache_shmem_impl_ctx_uncached ? nearcache_shmem_impl_ctx_uncached(ctx)
                                           : NEARCACHE_SHMEM_ABSENT;
}

/* A hint that [ptr, ptr + bytes) of `pe` will be read soon through the default context: starts
 * fetching what is not cached, and returns at once. Never faults, never waits: a range that is no
 * symmetric memory, a PE that does not exist, one within reach of loads and stores, or a lack of
 * room make it do nothing, and a range over the end of its segment is clipped. What it fetches
 * becomes usable at the first read of it, and is dropped by an acquire as what was read is (paper
 * of the cache for remote data, section III.C). */
static inline void nearcache_shmem_prefetch(const void* ptr, size_t bytes, int pe) {
  if (nearcache_shmem_impl_prefetch) nearcache_shmem_impl_prefetch(ptr, bytes, pe);
}

/* How many accesses ahead of their use a loop should prefetch: 64, or as many as find place, by the
 * size of what was prefetched last. So ask for it now and then, such as every 16th iteration. 0
 * without the library. */
static inline size_t nearcache_shmem_prefetch_distance(void) {
  return nearcache_shmem_impl_prefetch_distance ? nearcache_shmem_impl_prefetch_distance() : 0;
}

/* An acquire by hand, for programs that learn of other PEs' writes by other means than the calls of
 * the contract's table (loads from their own memory, files, MPI): nothing that was read before is
 * served after. All contexts of the process; O(1). */
static inline void nearcache_shmem_acquire(void) {
  if (nearcache_shmem_impl_acquire) nearcache_shmem_impl_acquire();
}

/* The same for runtimes on top of OpenSHMEM: reports and messages call it `call`, a text that is
 * never freed. */
static inline void nearcache_shmem_acquire_by(const char* call) {
  if (nearcache_shmem_impl_acquire_by)
    nearcache_shmem_impl_acquire_by(call);
  else
    nearcache_shmem_acquire(); /* an older library */
}

/* A release by hand, likewise: everything that was written through contexts which this thread may
 * use is complete at its target. The cost is that of a quiet of each context. */
static inline void nearcache_shmem_release(void) {
  if (nearcache_shmem_impl_release) nearcache_shmem_impl_release();
}

/* Gives [ptr, ptr + bytes) a name for reports and messages, in place of "block 3 of the symmetric
 * heap (4096 B)". The text is copied; a name that overlaps replaces the one before. Names go with
 * their block when it is freed. A report adds up what PEs call by the same name, so all of them
 * make the call. Errors: NEARCACHE_SHMEM_ARGUMENT if the range is empty or not symmetric memory
 * that the library knows, or the name is null or empty; NEARCACHE_SHMEM_ABSENT. */
static inline int nearcache_shmem_name(const void* ptr, size_t bytes, const char* name) {
  return nearcache_shmem_impl_name ? nearcache_shmem_impl_name(ptr, bytes, name)
                                   : NEARCACHE_SHMEM_ABSENT;
}

/* Sets option shmem_relaxed_atomics, for the whole process: nonzero says that fetching atomics do
 * not synchronise in this program (a sum, a mark "visited"), so that they only drop the bytes they
 * overlap; 0 makes each an acquire. Returns what it was, 0 or 1; 0 without the library. */
static inline int nearcache_shmem_set_relaxed_atomics(int relaxed) {
  return nearcache_shmem_impl_set_relaxed_atomics
             ? nearcache_shmem_impl_set_relaxed_atomics(relaxed)
             : 0;
}

/* For runtimes on top of OpenSHMEM that order by themselves, as Nearcache's own for UPC does: with
 * nonzero, the calling thread's atomics (shmem_atomic_*), non-blocking gets and tests (shmem_test*)
 * say nothing about order from now on, until it calls this with 0. They do not start write-back and
 * do not acquire; of the caches they drop the lines that they change, and what this thread wrote
 * there through the same context comes before them. The thread then calls shmem_quiet or
 * nearcache_shmem_release before an operation that is to release, and nearcache_shmem_acquire after
 * one that is to acquire. What it wrote is still started now and then while it spins on atomics,
 * but not while it spins on tests. All other calls mean what they meant. Each thread begins with 0.
 * Costs no more than storing a flag. Returns what it was, 0 or 1; 0 without the library. */
static inline int nearcache_shmem_set_unordered(int unordered) {
  return nearcache_shmem_impl_set_unordered ? nearcache_shmem_impl_set_unordered(unordered) : 0;
}

/* Fills `stats` with the counters of this process, all contexts together, destroyed ones included.
 * Set stats->size first. Errors: NEARCACHE_SHMEM_ARGUMENT (no stats, or a size too small);
 * NEARCACHE_SHMEM_ABSENT, and *stats is left as it was. */
static inline int nearcache_shmem_stats(nearcache_stats* stats) {
  return nearcache_shmem_impl_stats ? nearcache_shmem_impl_stats(stats) : NEARCACHE_SHMEM_ABSENT;
}

#ifdef __cplusplus
}
#endif
#endif
