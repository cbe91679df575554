/* Collectives (UPC library specifications 1.3, section 7.3; upc_types.h has the flags and operations).
 *
 * Every thread calls them, with the same arguments. `flags` is one of UPC_IN_* or'ed with one of UPC_OUT_*; 0 is both ALLSYNC. nbytes is
 * the size of one thread's block. Blocks lie as in shared [nbytes] char[nbytes * THREADS], from thread 0 on, or all in one thread.
 * C code that nearcache/upc_runtime.h is for takes the constants from here, and the functions from there. */
#ifndef NEARCACHE_UPC_UPC_COLLECTIVE_H
#define NEARCACHE_UPC_UPC_COLLECTIVE_H

#include "upc_types.h"

#ifndef __UPC_COLLECTIVE__
#define __UPC_COLLECTIVE__ 1
#endif

/* Operations of the caller's own, beside those of upc_types.h: the second need not be commutative. Both are associative. */
#define UPC_FUNC 0x200UL
#define UPC_NONCOMM_FUNC 0x400UL

#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H

#include <stddef.h>
#include <upc.h>

/* One block, to all threads. */
void upc_all_broadcast(shared void *restrict dst, shared const void *restrict src, size_t nbytes, upc_flag_t flags);
/* Block i of one thread to thread i, and back. */
void upc_all_scatter(shared void *restrict dst, shared const void *restrict src, size_t nbytes, upc_flag_t flags);
void upc_all_gather(shared void *restrict dst, shared const void *restrict src, size_t nbytes, upc_flag_t flags);
/* Every thread's block to every thread, which has nbytes * THREADS bytes at dst. */
void upc_all_gather_all(shared void *restrict dst, shared const void *restrict src, size_t nbytes, upc_flag_t flags);
/* Block j of thread i becomes block i of thread j. */
void upc_all_exchange(shared void *restrict dst, shared const void *restrict src, size_t nbytes, upc_flag_t flags);
/* The block of thread i to thread perm[i]. */
void upc_all_permute(shared void *restrict dst, shared const void *restrict src, shared const int *restrict perm, size_t nbytes,
                     upc_flag_t flags);

/* The reduction of nelems elements at src, in blocks of blk_size elements from src's thread and phase on (0: all in one thread), to the one
 * element at dst. */
void upc_all_reduceC(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     signed char (*func)(signed char, signed char), upc_flag_t flags);
void upc_all_reduceUC(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     unsigned char (*func)(unsigned char, unsigned char), upc_flag_t flags);
void upc_all_reduceS(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     short (*func)(short, short), upc_flag_t flags);
void upc_all_reduceUS(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     unsigned short (*func)(unsigned short, unsigned short), upc_flag_t flags);
void upc_all_reduceI(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     int (*func)(int, int), upc_flag_t flags);
void upc_all_reduceUI(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     unsigned int (*func)(unsigned int, unsigned int), upc_flag_t flags);
void upc_all_reduceL(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     long (*func)(long, long), upc_flag_t flags);
void upc_all_reduceUL(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     unsigned long (*func)(unsigned long, unsigned long), upc_flag_t flags);
void upc_all_reduceF(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     float (*func)(float, float), upc_flag_t flags);
void upc_all_reduceD(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     double (*func)(double, double), upc_flag_t flags);
void upc_all_reduceLD(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems, size_t blk_size,
                     long double (*func)(long double, long double), upc_flag_t flags);

/* dst[i] becomes the reduction of src[0] to src[i]. dst has the thread, phase and blocks of src. */
void upc_all_prefix_reduceC(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, signed char (*func)(signed char, signed char), upc_flag_t flags);
void upc_all_prefix_reduceUC(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, unsigned char (*func)(unsigned char, unsigned char), upc_flag_t flags);
void upc_all_prefix_reduceS(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, short (*func)(short, short), upc_flag_t flags);
void upc_all_prefix_reduceUS(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, unsigned short (*func)(unsigned short, unsigned short), upc_flag_t flags);
void upc_all_prefix_reduceI(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, int (*func)(int, int), upc_flag_t flags);
void upc_all_prefix_reduceUI(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, unsigned int (*func)(unsigned int, unsigned int), upc_flag_t flags);
void upc_all_prefix_reduceL(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, long (*func)(long, long), upc_flag_t flags);
void upc_all_prefix_reduceUL(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, unsigned long (*func)(unsigned long, unsigned long), upc_flag_t flags);
void upc_all_prefix_reduceF(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, float (*func)(float, float), upc_flag_t flags);
void upc_all_prefix_reduceD(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, double (*func)(double, double), upc_flag_t flags);
void upc_all_prefix_reduceLD(shared void *restrict dst, shared const void *restrict src, upc_op_t op, size_t nelems,
                            size_t blk_size, long double (*func)(long double, long double), upc_flag_t flags);

#endif
#endif
