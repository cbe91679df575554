/* SPDX-License-Identifier: BSD-3-Clause */
/* Berkeley UPC's non-blocking copies, and copies of more than one run of bytes. Part of
 * bupc_extensions.h.
 *
 * As in upc_nb.h, until a copy is complete its source must not be written and its destination must
 * be neither read nor written; a handle belongs to the thread that got it. A handle that is already
 * complete may be passed again. */
#ifndef NEARCACHE_UPC_BUPC_COPIES_H
#define NEARCACHE_UPC_BUPC_COPIES_H

#include <stdint.h>

typedef uint64_t bupc_handle_t;
#ifndef BUPC_COMPLETE_HANDLE
#define BUPC_COMPLETE_HANDLE ((bupc_handle_t)0)
#endif

bupc_handle_t bupc_memcpy_async(NCUPC_SHARED dst, NCUPC_SHARED_CONST src, size_t bytes);
bupc_handle_t bupc_memget_async(void* dst, NCUPC_SHARED_CONST src, size_t bytes);
bupc_handle_t bupc_memput_async(NCUPC_SHARED dst, const void* src, size_t bytes);
bupc_handle_t bupc_memset_async(NCUPC_SHARED dst, int value, size_t bytes);

/* Complete one copy, all of n, or at least one of n. In arrays, completed handles become
 * BUPC_COMPLETE_HANDLE. The try functions return 1 if what they ask for is complete. Since
 * OpenSHMEM completes copies together, a try waits for what it asks for, and a wait may complete
 * more. */
void bupc_waitsync(bupc_handle_t handle);
int bupc_trysync(bupc_handle_t handle);
void bupc_waitsync_all(bupc_handle_t* handles, size_t n);
int bupc_trysync_all(bupc_handle_t* handles, size_t n);
void bupc_waitsync_some(bupc_handle_t* handles, size_t n);
int bupc_trysync_some(bupc_handle_t* handles, size_t n);

/* Copies without handles, completed together by waitsynci or trysynci. Copies between a begin and
 * an end of a region are completed by the handle that the end returns; regions do not nest. */
void bupc_memcpy_asynci(NCUPC_SHARED dst, NCUPC_SHARED_CONST src, size_t bytes);
void bupc_memget_asynci(void* dst, NCUPC_SHARED_CONST src, size_t bytes);
void bupc_memput_asynci(NCUPC_SHARED dst, const void* src, size_t bytes);
void bupc_memset_asynci(NCUPC_SHARED dst, int value, size_t bytes);
void bupc_waitsynci(void);
int bupc_trysynci(void);
void bupc_begin_accessregion(void);
bupc_handle_t bupc_end_accessregion(void);

/* ---- Several runs of bytes. Source and destination have the same total size, but may be divided
 * differently; the runs of a destination do not overlap. ---- */

#define BUPC_SG_DESIGN_A 1
#define BUPC_SG_DESIGN_B 1
#define BUPC_STRIDED_DESIGN_A 1
#define BUPC_STRIDED_DESIGN_B 1

typedef struct {
  void* addr;
  size_t len; /* bytes */
} bupc_pmemvec_t;

typedef struct {
  NCUPC_SHARED addr; /* `len` bytes from here on are on one thread */
  size_t len;
} bupc_smemvec_t;

#define NCUPC_DECLARE_COPIES(kind, dst, src_const, dst_vector, src_vector)                       \
  /* Lists of runs. */                                                                           \
  void bupc_##kind##_vlist(size_t dst_count, dst_vector const dst_list[], size_t src_count,      \
                           src_vector const src_list[]);                                         \
  bupc_handle_t bupc_##kind##_vlist_async(size_t dst_count, dst_vector const dst_list[],         \
                                          size_t src_count, src_vector const src_list[]);        \
  /* Lists of runs of the same size. */                                                          \
  void bupc_##kind##_ilist(size_t dst_count, dst const dst_list[], size_t dst_bytes,             \
                           size_t src_count, src_const const src_list[], size_t src_bytes);      \
  bupc_handle_t bupc_##kind##_ilist_async(size_t dst_count, dst const dst_list[],                \
                                          size_t dst_bytes, size_t src_count,                    \
                                          src_const const src_list[], size_t src_bytes);         \
  /* `count` runs of `bytes` bytes, `stride` bytes apart from start to start, on one thread. */  \
  void bupc_##kind##_fstrided(dst to, size_t dst_bytes, size_t dst_stride, size_t dst_count,     \
                              src_const from, size_t src_bytes, size_t src_stride,               \
                              size_t src_count);                                                 \
  bupc_handle_t bupc_##kind##_fstrided_async(dst to, size_t dst_bytes, size_t dst_stride,        \
                                             size_t dst_count, src_const from, size_t src_bytes, \
                                             size_t src_stride, size_t src_count);               \
  /* Parts of multidimensional arrays: runs of count[0] bytes; count[1] of them, strides[0]      \
     bytes apart; count[2] of these groups, strides[1] apart; and so on to count[levels]. */     \
  void bupc_##kind##_strided(dst to, const size_t dst_strides[], src_const from,                 \
                             const size_t src_strides[], const size_t count[], size_t levels);   \
  bupc_handle_t bupc_##kind##_strided_async(dst to, const size_t dst_strides[], src_const from,  \
                                            const size_t src_strides[], const size_t count[],    \
                                            size_t levels);

NCUPC_DECLARE_COPIES(memcpy, NCUPC_SHARED, NCUPC_SHARED_CONST, bupc_smemvec_t, bupc_smemvec_t)
NCUPC_DECLARE_COPIES(memput, NCUPC_SHARED, const void*, bupc_smemvec_t, bupc_pmemvec_t)
NCUPC_DECLARE_COPIES(memget, void*, NCUPC_SHARED_CONST, bupc_pmemvec_t, bupc_smemvec_t)

#endif
