/* Berkeley UPC's semaphores. Part of bupc_extensions.h. */
#ifndef NEARCACHE_UPC_BUPC_SEMAPHORES_H
#define NEARCACHE_UPC_BUPC_SEMAPHORES_H

/* What bupc_sem_alloc makes: one of each line, the last of each by default. */
#define BUPC_SEM_BOOLEAN 1   /* 0 or 1: a post of a semaphore that is 1 changes nothing */
#define BUPC_SEM_INTEGER 2   /* a number up to BUPC_SEM_MAXVALUE */
#define BUPC_SEM_SPRODUCER 4 /* how many threads post: a promise that nothing is made of */
#define BUPC_SEM_MPRODUCER 8
#define BUPC_SEM_SCONSUMER 16 /* how many wait: likewise */
#define BUPC_SEM_MCONSUMER 32
#define BUPC_SEM_MAXVALUE 65535

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NCUPC_SEMAPHORE ncupc_ptr
#else
struct ncupc_semaphore;
typedef shared struct ncupc_semaphore bupc_sem_t;
#define NCUPC_SEMAPHORE bupc_sem_t*
#endif

/* A semaphore at this thread, of value 0. Not collective. */
NCUPC_SEMAPHORE bupc_sem_alloc(int flags);
void bupc_sem_free(NCUPC_SEMAPHORE s); /* by any thread; NULL is nothing */

/* All are fences. A post adds 1, or n; a wait waits until the value is at least that and takes it
 * off; a try that would have to wait returns 0, else 1. n other than 0 and 1 is for integers. Over
 * a network a wait at one's own semaphore makes no traffic. */
void bupc_sem_post(NCUPC_SEMAPHORE s);
void bupc_sem_postN(NCUPC_SEMAPHORE s, size_t n);
void bupc_sem_wait(NCUPC_SEMAPHORE s);
void bupc_sem_waitN(NCUPC_SEMAPHORE s, size_t n);
int bupc_sem_try(NCUPC_SEMAPHORE s);
int bupc_sem_tryN(NCUPC_SEMAPHORE s, size_t n);

/* upc_memput, and a post of n once the bytes have arrived; the semaphore is at the thread of dst.
 * Both return when the bytes have arrived. */
void bupc_memput_signal(NCUPC_SHARED dst, const void* src, size_t bytes, NCUPC_SEMAPHORE s,
                        size_t n);
void bupc_memput_signal_async(NCUPC_SHARED dst, const void* src, size_t bytes, NCUPC_SEMAPHORE s,
                              size_t n);

#endif
