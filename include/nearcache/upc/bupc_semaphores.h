/* SPDX-License-Identifier: BSD-3-Clause */
/* Berkeley UPC's semaphores. Part of bupc_extensions.h. */
#ifndef NEARCACHE_UPC_BUPC_SEMAPHORES_H
#define NEARCACHE_UPC_BUPC_SEMAPHORES_H

/* Flags of bupc_sem_alloc: one of each pair; the default is the last of each. */
#define BUPC_SEM_BOOLEAN 1   /* 0 or 1: posting a semaphore that is 1 has no effect */
#define BUPC_SEM_INTEGER 2   /* a count of up to BUPC_SEM_MAXVALUE */
#define BUPC_SEM_SPRODUCER 4 /* one posting thread or several (M): a promise that is not used */
#define BUPC_SEM_MPRODUCER 8
#define BUPC_SEM_SCONSUMER 16 /* one waiting thread or several (M): likewise */
#define BUPC_SEM_MCONSUMER 32
#define BUPC_SEM_MAXVALUE 65535

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NCUPC_SEMAPHORE ncupc_ptr
#else
struct ncupc_semaphore;
typedef shared struct ncupc_semaphore bupc_sem_t;
#define NCUPC_SEMAPHORE bupc_sem_t*
#endif

/* Allocates a semaphore with value 0 on this thread. Not collective. */
NCUPC_SEMAPHORE bupc_sem_alloc(int flags);
void bupc_sem_free(NCUPC_SEMAPHORE s); /* may be called by any thread; NULL is ignored */

/* All are fences. A post adds 1, or n. A wait waits until the value is at least that and subtracts
 * it; a try returns 0 if it would have to wait, else 1. Only integer semaphores allow n other than
 * 0 and 1. Over a network, waiting on a thread's own semaphore causes no traffic. */
void bupc_sem_post(NCUPC_SEMAPHORE s);
void bupc_sem_postN(NCUPC_SEMAPHORE s, size_t n);
void bupc_sem_wait(NCUPC_SEMAPHORE s);
void bupc_sem_waitN(NCUPC_SEMAPHORE s, size_t n);
int bupc_sem_try(NCUPC_SEMAPHORE s);
int bupc_sem_tryN(NCUPC_SEMAPHORE s, size_t n);

/* upc_memput, followed by a post of n once the bytes have arrived. The semaphore must be on dst's
 * thread. Both functions return when the bytes have arrived. */
void bupc_memput_signal(NCUPC_SHARED dst, const void* src, size_t bytes, NCUPC_SEMAPHORE s,
                        size_t n);
void bupc_memput_signal_async(NCUPC_SHARED dst, const void* src, size_t bytes, NCUPC_SEMAPHORE s,
                              size_t n);

#endif
