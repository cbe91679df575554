/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives (UPC library specifications 1.3, section 7.3; upc_types.h has the flags and
 * operations).
 *
 * All threads call them with the same arguments. `flags` is one of UPC_IN_* or'ed with one of
 * UPC_OUT_*; 0 means ALLSYNC for both. nbytes is the size of one thread's block. Blocks are laid
 * out as in shared [nbytes] char[nbytes * THREADS], starting on thread 0, or all on one thread. */
#ifndef NEARCACHE_UPC_UPC_COLLECTIVE_H
#define NEARCACHE_UPC_UPC_COLLECTIVE_H

#include "upc_types.h"

#ifndef __UPC_COLLECTIVE__
#define __UPC_COLLECTIVE__ 1
#endif

/* Operations supplied by the caller, in addition to those of upc_types.h. Both must be associative;
 * UPC_NONCOMM_FUNC need not be commutative. */
#define UPC_FUNC 0x200UL
#define UPC_NONCOMM_FUNC 0x400UL

#include <stddef.h>
#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#include <upc.h>
#endif

#include "upc_declare.h"

#define NCUPC_DECLARE_COLLECTIVE(name)                                                 \
  NCUPC_LINED(void, name,                                                              \
              (NCUPC_SHARED_RESTRICT(void) dst, NCUPC_SHARED_RESTRICT(const void) src, \
               size_t nbytes, upc_flag_t flags),                                       \
              (dst, src, nbytes, flags))

/* Copies one block to all threads. */
NCUPC_DECLARE_COLLECTIVE(all_broadcast)
/* Copy block i of one thread to thread i, and back. */
NCUPC_DECLARE_COLLECTIVE(all_scatter)
NCUPC_DECLARE_COLLECTIVE(all_gather)
/* Copies every thread's block to every thread, which has nbytes * THREADS bytes at dst. */
NCUPC_DECLARE_COLLECTIVE(all_gather_all)
/* Block j of thread i becomes block i of thread j. */
NCUPC_DECLARE_COLLECTIVE(all_exchange)
/* Copies the block of thread i to thread perm[i]. */
NCUPC_LINED(void, all_permute,
            (NCUPC_SHARED_RESTRICT(void) dst, NCUPC_SHARED_RESTRICT(const void) src,
             NCUPC_SHARED_RESTRICT(const int) perm, size_t nbytes, upc_flag_t flags),
            (dst, src, perm, nbytes, flags))

/* The types of reductions and the suffixes of their function names. */
#define NCUPC_FOR_REDUCTION_TYPES(X) \
  X(C, signed char)                  \
  X(UC, unsigned char)               \
  X(S, short)                        \
  X(US, unsigned short)              \
  X(I, int)                          \
  X(UI, unsigned int)                \
  X(L, long)                         \
  X(UL, unsigned long)               \
  X(F, float)                        \
  X(D, double)                       \
  X(LD, long double)

#define NCUPC_DECLARE_REDUCTION(name, T)                                                       \
  NCUPC_LINED(void, name,                                                                      \
              (NCUPC_SHARED_RESTRICT(void) dst, NCUPC_SHARED_RESTRICT(const void) src,         \
               upc_op_t op, size_t nelems, size_t blk_size, T(*func)(T, T), upc_flag_t flags), \
              (dst, src, op, nelems, blk_size, func, flags))
/* upc_all_reduceT stores in the single element at dst the reduction of nelems elements at src,
 * which are in blocks of blk_size elements, starting at src's thread and phase (0: all on one
 * thread). upc_all_prefix_reduceT sets dst[i] to the reduction of src[0] to src[i]; dst has the
 * same thread, phase and blocks as src. */
#define NCUPC_DECLARE_REDUCTIONS(suffix, T)      \
  NCUPC_DECLARE_REDUCTION(all_reduce##suffix, T) \
  NCUPC_DECLARE_REDUCTION(all_prefix_reduce##suffix, T)
NCUPC_FOR_REDUCTION_TYPES(NCUPC_DECLARE_REDUCTIONS)

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define upc_all_broadcast(...) ncupc_all_broadcast(NCUPC_HERE, __VA_ARGS__)
#define upc_all_scatter(...) ncupc_all_scatter(NCUPC_HERE, __VA_ARGS__)
#define upc_all_gather(...) ncupc_all_gather(NCUPC_HERE, __VA_ARGS__)
#define upc_all_gather_all(...) ncupc_all_gather_all(NCUPC_HERE, __VA_ARGS__)
#define upc_all_exchange(...) ncupc_all_exchange(NCUPC_HERE, __VA_ARGS__)
#define upc_all_permute(...) ncupc_all_permute(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceC(...) ncupc_all_reduceC(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceUC(...) ncupc_all_reduceUC(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceS(...) ncupc_all_reduceS(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceUS(...) ncupc_all_reduceUS(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceI(...) ncupc_all_reduceI(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceUI(...) ncupc_all_reduceUI(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceL(...) ncupc_all_reduceL(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceUL(...) ncupc_all_reduceUL(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceF(...) ncupc_all_reduceF(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceD(...) ncupc_all_reduceD(NCUPC_HERE, __VA_ARGS__)
#define upc_all_reduceLD(...) ncupc_all_reduceLD(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceC(...) ncupc_all_prefix_reduceC(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceUC(...) ncupc_all_prefix_reduceUC(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceS(...) ncupc_all_prefix_reduceS(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceUS(...) ncupc_all_prefix_reduceUS(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceI(...) ncupc_all_prefix_reduceI(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceUI(...) ncupc_all_prefix_reduceUI(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceL(...) ncupc_all_prefix_reduceL(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceUL(...) ncupc_all_prefix_reduceUL(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceF(...) ncupc_all_prefix_reduceF(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceD(...) ncupc_all_prefix_reduceD(NCUPC_HERE, __VA_ARGS__)
#define upc_all_prefix_reduceLD(...) ncupc_all_prefix_reduceLD(NCUPC_HERE, __VA_ARGS__)
#endif

#endif
