/* <upc.h> of UPC 1.3: the required library, as the translator reads it (UPC, not C). */
#ifndef NEARCACHE_UPC_UPC_H
#define NEARCACHE_UPC_UPC_H

#include <stddef.h>
#include <sys/types.h> /* as other compilers' <upc.h> has it: programs expect its types, and struct timeval */

#include "bupc_extensions.h"

#ifndef UPC_MAX_BLOCK_SIZE
#ifdef NCUPC_STRUCT_POINTERS
#define UPC_MAX_BLOCK_SIZE 2147483647
#else
#define UPC_MAX_BLOCK_SIZE 1048576
#endif
#endif

struct ncupc_lock;
typedef shared struct ncupc_lock upc_lock_t;

void upc_global_exit(int status);

size_t upc_threadof(shared const volatile void *p);
size_t upc_phaseof(shared const volatile void *p);
size_t upc_addrfield(shared const volatile void *p);
shared void *upc_resetphase(shared const volatile void *p);
size_t upc_affinitysize(size_t total, size_t block, size_t thread);

shared void *upc_all_alloc(size_t blocks, size_t bytes);
shared void *upc_global_alloc(size_t blocks, size_t bytes);
shared void *upc_alloc(size_t bytes);
shared void *upc_local_alloc(size_t blocks, size_t bytes);
void upc_free(shared void *p);
void upc_all_free(shared void *p);

upc_lock_t *upc_all_lock_alloc(void);
upc_lock_t *upc_global_lock_alloc(void);
void upc_lock(upc_lock_t *lock);
int upc_lock_attempt(upc_lock_t *lock);
void upc_unlock(upc_lock_t *lock);
void upc_lock_free(upc_lock_t *lock);
void upc_all_lock_free(upc_lock_t *lock);

void upc_memcpy(shared void *restrict to, shared const void *restrict from, size_t bytes);
void upc_memget(void *restrict to, shared const void *restrict from, size_t bytes);
void upc_memput(shared void *restrict to, const void *restrict from, size_t bytes);
void upc_memset(shared void *to, int value, size_t bytes);

#endif
