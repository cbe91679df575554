/* Atomic operations on shared memory (UPC optional library, section 7.5).
 *
 * A domain fixes a type (UPC_INT, _UINT, _LONG, _ULONG, _LLONG, _ULLONG, _INT32, _UINT32, _INT64, _UINT64, _FLOAT, _DOUBLE or _PTS)
 * and a set of operations. While accesses through a domain may be under way its objects are accessed by no other way. AND, OR and XOR
 * are for integers; pointers-to-shared know GET, SET and CSWAP only. Elements are aligned to their size. */
#ifndef NEARCACHE_UPC_UPC_ATOMIC_H
#define NEARCACHE_UPC_UPC_ATOMIC_H

#include "upc_types.h"

#ifndef __UPC_ATOMIC__
#define __UPC_ATOMIC__ 1
#endif

/* Operations beside those of upc_types.h: *fetch_ptr gets the old value (may be NULL but for GET). */
#define UPC_GET 0x800UL    /* no operand */
#define UPC_SET 0x1000UL   /* operand1: the new value */
#define UPC_CSWAP 0x2000UL /* operand1: what must be there; operand2: the new value */
#define UPC_SUB 0x4000UL
#define UPC_INC 0x8000UL /* no operand */
#define UPC_DEC 0x10000UL

typedef int upc_atomichint_t;

#define UPC_ATOMIC_HINT_DEFAULT 0
#define UPC_ATOMIC_HINT_LATENCY 1
#define UPC_ATOMIC_HINT_THROUGHPUT 2

#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H

#include <stddef.h>
#include <upc.h>

/* Shared: any thread may use a pointer to a domain that another one stored. In C it is an ncupc_ptr. */
typedef shared struct ncupc_atomicdomain upc_atomicdomain_t;

/* Both are collective, with the same arguments on every thread. All threads get the same pointer. */
upc_atomicdomain_t *upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops, upc_atomichint_t hints);
void upc_all_atomicdomain_free(upc_atomicdomain_t *domain);

void upc_atomic_strict(upc_atomicdomain_t *domain, void *restrict fetch_ptr, upc_op_t op, shared void *restrict target,
                       const void *restrict operand1, const void *restrict operand2);
void upc_atomic_relaxed(upc_atomicdomain_t *domain, void *restrict fetch_ptr, upc_op_t op, shared void *restrict target,
                        const void *restrict operand1, const void *restrict operand2);

/* Whether each of ops on objects like addr is one operation of the network. */
int upc_atomic_isfast(upc_type_t type, upc_op_t ops, shared void *addr);

#endif
#endif
