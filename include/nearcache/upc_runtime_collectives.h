/* The collectives as C functions, and the constants of <upc_types.h> and <upc_collective.h>. Part of nearcache/upc_runtime.h.
 *
 * What they do is said in nearcache/upc/upc_collective.h. The macros add the source line that errors name. */
#ifndef NEARCACHE_UPC_RUNTIME_COLLECTIVES_H
#define NEARCACHE_UPC_RUNTIME_COLLECTIVES_H

#include "nearcache/upc_runtime_library.h" /* first: the headers of UPC programs leave out their functions then */

#include "nearcache/upc/upc_collective.h"

#ifdef __cplusplus
extern "C" {
#endif

void upc_all_broadcast(ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void upc_all_scatter(ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void upc_all_gather(ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void upc_all_gather_all(ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void upc_all_exchange(ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void upc_all_permute(ncupc_ptr dst, ncupc_ptr src, ncupc_ptr perm, size_t nbytes, upc_flag_t flags);
void ncupc_all_broadcast(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void ncupc_all_scatter(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void ncupc_all_gather(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void ncupc_all_gather_all(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void ncupc_all_exchange(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, size_t nbytes, upc_flag_t flags);
void ncupc_all_permute(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, ncupc_ptr perm, size_t nbytes, upc_flag_t flags);
#define upc_all_broadcast(...) ncupc_all_broadcast(NCUPC_HERE, __VA_ARGS__)
#define upc_all_scatter(...) ncupc_all_scatter(NCUPC_HERE, __VA_ARGS__)
#define upc_all_gather(...) ncupc_all_gather(NCUPC_HERE, __VA_ARGS__)
#define upc_all_gather_all(...) ncupc_all_gather_all(NCUPC_HERE, __VA_ARGS__)
#define upc_all_exchange(...) ncupc_all_exchange(NCUPC_HERE, __VA_ARGS__)
#define upc_all_permute(...) ncupc_all_permute(NCUPC_HERE, __VA_ARGS__)

/* The types of reductions and the ends of their functions' names. */
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

#define NCUPC_DECLARE_REDUCTION(name, T)                                                                                              \
  void upc_all_##name(ncupc_ptr dst, ncupc_ptr src, upc_op_t op, size_t nelems, size_t blk_size, T (*func)(T, T), upc_flag_t flags);  \
  void ncupc_all_##name(const char *file, int line, ncupc_ptr dst, ncupc_ptr src, upc_op_t op, size_t nelems, size_t blk_size,        \
                        T (*func)(T, T), upc_flag_t flags);
#define NCUPC_DECLARE_REDUCTIONS(suffix, T)   \
  NCUPC_DECLARE_REDUCTION(reduce##suffix, T)  \
  NCUPC_DECLARE_REDUCTION(prefix_reduce##suffix, T)
NCUPC_FOR_REDUCTION_TYPES(NCUPC_DECLARE_REDUCTIONS)

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

#ifdef __cplusplus
}
#endif
#endif
