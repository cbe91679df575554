/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on shared memory (UPC optional library, section 7.5).
 *
 * A domain fixes a type (UPC_INT, _UINT, _LONG, _ULONG, _LLONG, _ULLONG, _INT32, _UINT32, _INT64,
 * _UINT64, _FLOAT, _DOUBLE or _PTS) and a set of operations. While accesses through a domain may be
 * in progress, its objects must not be accessed in any other way. AND, OR and XOR are for integers;
 * pointers-to-shared support only GET, SET and CSWAP. Elements must be aligned to their size. */
#ifndef NEARCACHE_UPC_UPC_ATOMIC_H
#define NEARCACHE_UPC_UPC_ATOMIC_H

#include "upc_types.h"

#ifndef __UPC_ATOMIC__
#define __UPC_ATOMIC__ 1
#endif

/* Operations in addition to those of upc_types.h. *fetch_ptr receives the old value; except for
 * GET, fetch_ptr may be NULL. */
#define UPC_GET 0x800UL    /* no operand */
#define UPC_SET 0x1000UL   /* operand1: the new value */
#define UPC_CSWAP 0x2000UL /* operand1: the expected value; operand2: the new value */
#define UPC_SUB 0x4000UL
#define UPC_INC 0x8000UL /* no operand */
#define UPC_DEC 0x10000UL

typedef int upc_atomichint_t;

#define UPC_ATOMIC_HINT_DEFAULT 0
#define UPC_ATOMIC_HINT_LATENCY 1
#define UPC_ATOMIC_HINT_THROUGHPUT 2

#include <stddef.h>
#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NCUPC_DOMAIN ncupc_ptr
#else
#include <upc.h>
/* Shared, because any thread may use a pointer to a domain that another thread stored. */
typedef shared struct ncupc_atomicdomain upc_atomicdomain_t;
#define NCUPC_DOMAIN upc_atomicdomain_t*
#endif

#include "upc_declare.h"

/* Both are collective and take the same arguments on every thread. All threads get the same
 * pointer. */
NCUPC_LINED(NCUPC_DOMAIN, all_atomicdomain_alloc,
            (upc_type_t type, upc_op_t ops, upc_atomichint_t hints), (type, ops, hints))
NCUPC_LINED(void, all_atomicdomain_free, (NCUPC_DOMAIN domain), (domain))

#define NCUPC_DECLARE_ATOMIC(name)                                                      \
  NCUPC_LINED(void, name,                                                               \
              (NCUPC_DOMAIN domain, void* NCUPC_RESTRICT fetch_ptr, upc_op_t op,        \
               NCUPC_SHARED_RESTRICT(void) target, const void* NCUPC_RESTRICT operand1, \
               const void* NCUPC_RESTRICT operand2),                                    \
              (domain, fetch_ptr, op, target, operand1, operand2))
NCUPC_DECLARE_ATOMIC(atomic_strict)
NCUPC_DECLARE_ATOMIC(atomic_relaxed)

/* Returns 1 if each operation of `ops` on objects like addr is a single operation of the network.
 */
int upc_atomic_isfast(upc_type_t type, upc_op_t ops, NCUPC_SHARED addr);

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define upc_all_atomicdomain_alloc(...) ncupc_all_atomicdomain_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_all_atomicdomain_free(...) ncupc_all_atomicdomain_free(NCUPC_HERE, __VA_ARGS__)
#define upc_atomic_strict(...) ncupc_atomic_strict(NCUPC_HERE, __VA_ARGS__)
#define upc_atomic_relaxed(...) ncupc_atomic_relaxed(NCUPC_HERE, __VA_ARGS__)
#endif

#endif
