/* SPDX-License-Identifier: BSD-3-Clause */
/* Berkeley UPC's collectives on values: each thread contributes one value of an assignable type T,
 * which must be arithmetic for reductions. All threads call them with the same type, root and
 * operation. They only move values: they do not order other accesses. */
#ifndef NEARCACHE_UPC_BUPC_COLLECTIVEV_H
#define NEARCACHE_UPC_BUPC_COLLECTIVEV_H

#include <stddef.h>

#include "upc_types.h"

#define BUPC_COLLECTIVEV_VERSION_MAJOR 1
#define BUPC_COLLECTIVEV_VERSION_MINOR 2

void ncupc_allv_broadcast(const char* file, int line, void* to, const void* value, size_t bytes,
                          int root);
void ncupc_allv_scatter(const char* file, int line, void* to, const void* values, size_t bytes,
                        int root);
void* ncupc_allv_gather(const char* file, int line, void* to, const void* value, size_t bytes,
                        int root);
void ncupc_allv_permute(const char* file, int line, void* to, const void* value, size_t bytes,
                        int thread);
/* kind: 1 signed integers, 2 unsigned integers, 3 floating-point numbers. */
void ncupc_allv_reduce(const char* file, int line, void* to, const void* value, size_t bytes,
                       int kind, int root, upc_op_t op);
void ncupc_allv_prefix_reduce(const char* file, int line, void* to, const void* value, size_t bytes,
                              int kind, upc_op_t op);

#define NCUPC_ALLV_KIND(T) (sizeof(T) > 1 && (T)0.5 != (T)0 ? 3 : (T)-1 < (T)1 ? 1 : 2)
#define NCUPC_ALLV(T, call, ...)                                            \
  __extension__({                                                           \
    T ncupc_allv_result;                                                    \
    ncupc_allv_##call(__FILE__, __LINE__, &ncupc_allv_result, __VA_ARGS__); \
    ncupc_allv_result;                                                      \
  })
#define NCUPC_ALLV_OF(T, value, call, ...)                                                  \
  __extension__({                                                                           \
    T ncupc_allv_value = (value);                                                           \
    T ncupc_allv_result = ncupc_allv_value;                                                 \
    ncupc_allv_##call(__FILE__, __LINE__, &ncupc_allv_result, &ncupc_allv_value, sizeof(T), \
                      __VA_ARGS__);                                                         \
    ncupc_allv_result;                                                                      \
  })

/* broadcast returns the value of `root`. scatter returns values[MYTHREAD] of an array of THREADS
 * values at root (ignored elsewhere). permute returns the value of the thread that named this
 * thread. */
#define bupc_allv_broadcast(T, value, root) NCUPC_ALLV_OF(T, value, broadcast, (root))
#define bupc_allv_scatter(T, root, values) NCUPC_ALLV(T, scatter, (values), sizeof(T), (root))
#define bupc_allv_permute(T, value, thread) NCUPC_ALLV_OF(T, value, permute, (thread))

/* Stores the values of all threads in `values`, an array of THREADS values, at `root` (-1: at all
 * threads), and returns the array. gather_all: a thread that passes NULL gets none. */
#define bupc_allv_gather(T, value, root, values)                                               \
  __extension__({                                                                              \
    T ncupc_allv_value = (value);                                                              \
    (T*)ncupc_allv_gather(__FILE__, __LINE__, (values), &ncupc_allv_value, sizeof(T), (root)); \
  })
#define bupc_allv_gather_all(T, value, values) bupc_allv_gather(T, value, -1, values)

/* reduce returns the reduction in thread order at `root` (-1: at all threads); elsewhere it returns
 * the thread's own value. prefix_reduce returns the reduction up to this thread. */
#define bupc_allv_reduce(T, value, root, op) \
  NCUPC_ALLV_OF(T, value, reduce, NCUPC_ALLV_KIND(T), (root), (op))
#define bupc_allv_reduce_all(T, value, op) bupc_allv_reduce(T, value, -1, op)
#define bupc_allv_prefix_reduce(T, value, op) \
  NCUPC_ALLV_OF(T, value, prefix_reduce, NCUPC_ALLV_KIND(T), (op))

#endif
