/* SPDX-License-Identifier: BSD-3-Clause */
/* Berkeley UPC's atomic functions: bupc_atomicI64_fetchadd_strict and the like. Part of
 * bupc_extensions.h.
 *
 * Types: I, UI, L, UL, I32, U32, I64, U64, and F, D without the bitwise operations. Objects must be
 * aligned to their size, and must not be accessed in any other way while an atomic access may be in
 * progress. Functions ending in `strict` are ordered like strict accesses, those ending in
 * `relaxed` like relaxed ones. Those ending in `private` take a C pointer to private memory, which
 * only this thread accesses, or to this thread's own shared memory. All but set return the old
 * value. All are compare-and-swap loops, except for read, set, swap, cswap and fetchadd of 64-bit
 * integers (upc_atomic.h). */
#ifndef NEARCACHE_UPC_BUPC_ATOMICS_H
#define NEARCACHE_UPC_BUPC_ATOMICS_H

#include <stdint.h>

/* Complete names, because <complex.h> has a macro I. */
#define NCUPC_FOR_ATOMIC_INTEGERS(X) \
  X(bupc_atomicI, int)               \
  X(bupc_atomicUI, unsigned int)     \
  X(bupc_atomicL, long)              \
  X(bupc_atomicUL, unsigned long)    \
  X(bupc_atomicI32, int32_t)         \
  X(bupc_atomicU32, uint32_t)        \
  X(bupc_atomicI64, int64_t)         \
  X(bupc_atomicU64, uint64_t)
#define NCUPC_FOR_ATOMIC_FLOATS(X) \
  X(bupc_atomicF, float)           \
  X(bupc_atomicD, double)

/* cswap writes `value` if the target holds `expected`; mswap writes only the bits of `mask`. */
#define NCUPC_DECLARE_ATOMIC_NUMBER(name, T, pointer, order)   \
  T name##_read_##order(pointer target);                       \
  void name##_set_##order(pointer target, T value);            \
  T name##_swap_##order(pointer target, T value);              \
  T name##_cswap_##order(pointer target, T expected, T value); \
  T name##_fetchadd_##order(pointer target, T value);
#define NCUPC_DECLARE_ATOMIC_BITS(name, T, pointer, order) \
  T name##_mswap_##order(pointer target, T mask, T value); \
  T name##_fetchand_##order(pointer target, T value);      \
  T name##_fetchor_##order(pointer target, T value);       \
  T name##_fetchxor_##order(pointer target, T value);      \
  T name##_fetchnot_##order(pointer target);
#define NCUPC_DECLARE_ATOMIC_FLOAT(name, T)                   \
  NCUPC_DECLARE_ATOMIC_NUMBER(name, T, NCUPC_SHARED, relaxed) \
  NCUPC_DECLARE_ATOMIC_NUMBER(name, T, NCUPC_SHARED, strict)  \
  NCUPC_DECLARE_ATOMIC_NUMBER(name, T, void*, private)
#define NCUPC_DECLARE_ATOMIC_INTEGER(name, T)               \
  NCUPC_DECLARE_ATOMIC_FLOAT(name, T)                       \
  NCUPC_DECLARE_ATOMIC_BITS(name, T, NCUPC_SHARED, relaxed) \
  NCUPC_DECLARE_ATOMIC_BITS(name, T, NCUPC_SHARED, strict)  \
  NCUPC_DECLARE_ATOMIC_BITS(name, T, void*, private)

NCUPC_FOR_ATOMIC_INTEGERS(NCUPC_DECLARE_ATOMIC_INTEGER)
NCUPC_FOR_ATOMIC_FLOATS(NCUPC_DECLARE_ATOMIC_FLOAT)

#endif
