/* Berkeley UPC's atomic functions: bupc_atomicI64_fetchadd_strict and its like. Part of
 * bupc_extensions.h.
 *
 * Types: I, UI, L, UL, I32, U32, I64, U64, and F, D without the operations on bits. Objects are
 * aligned to their size, and accessed by no other way while an atomic access may be under way.
 * `strict` ones are ordered as strict accesses, `relaxed` ones as relaxed ones; those that end in
 * `private` take a C pointer: to private memory, which only this thread reaches, or to its own
 * shared memory. All but set return the old value. They are loops of compare-and-swap but for read,
 * set, swap, cswap and fetchadd of 64-bit integers (upc_atomic.h). */
#ifndef NEARCACHE_UPC_BUPC_ATOMICS_H
#define NEARCACHE_UPC_BUPC_ATOMICS_H

#include <stdint.h>

/* Whole names, as <complex.h> has a macro I. */
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

/* cswap writes `value` if `expected` is there; mswap the bits of `mask` alone. */
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
