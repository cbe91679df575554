/* The functions of <upc.h> as C functions. Part of nearcache/upc_runtime.h.
 *
 * Those whose errors name a source line are macros over functions that take it; the plain functions exist, too (for their addresses). */
#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NEARCACHE_UPC_RUNTIME_LIBRARY_H

#include "nearcache/upc_runtime_pointer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NCUPC_HERE __FILE__, __LINE__

#define NCUPC_NORETURN __attribute__((noreturn))

/* Ends all threads: `upc: thread 2: file:line: what: message` on stderr, status 1. `file` may be null: no line is named. */
NCUPC_NORETURN __attribute__((format(printf, 4, 5))) void ncupc_error(const char *file, int line, const char *what,
                                                                     const char *format, ...);

/* Ends all threads with `status`. */
NCUPC_NORETURN void upc_global_exit(int status);

/* ---- Pointers ---- */

static inline size_t ncupc_threadof(ncupc_ptr p) { return ncupc_thread(p); }
static inline size_t ncupc_phaseof(ncupc_ptr p) { return ncupc_phase(p); }
static inline size_t ncupc_addrfield(ncupc_ptr p) { return (size_t)ncupc_address(p); }
size_t upc_threadof(ncupc_ptr p);
size_t upc_phaseof(ncupc_ptr p);
size_t upc_addrfield(ncupc_ptr p);
ncupc_ptr upc_resetphase(ncupc_ptr p);
/* The bytes of an object of `total` bytes, in blocks of `block` bytes (0: all on thread 0), that `thread` has. */
size_t upc_affinitysize(size_t total, size_t block, size_t thread);
#define upc_threadof(...) ncupc_threadof(__VA_ARGS__)
#define upc_phaseof(...) ncupc_phaseof(__VA_ARGS__)
#define upc_addrfield(...) ncupc_addrfield(__VA_ARGS__)
#define upc_resetphase(...) ncupc_unphased(__VA_ARGS__)

/* ---- Memory. Blocks are aligned to 16 bytes; what they hold is undefined. A size of 0 gives NULL, exhaustion is an error. ---- */

ncupc_ptr upc_all_alloc(size_t blocks, size_t bytes);    /* collective: `blocks` blocks of `bytes`, from thread 0 on */
ncupc_ptr upc_global_alloc(size_t blocks, size_t bytes); /* the same by one thread for itself */
ncupc_ptr upc_alloc(size_t bytes);                       /* on this thread; no communication, but now and then for a chunk */
ncupc_ptr upc_local_alloc(size_t blocks, size_t bytes);  /* older name of upc_alloc(blocks * bytes) */
void upc_free(ncupc_ptr p);                              /* by any thread; NULL is nothing */
void upc_all_free(ncupc_ptr p);                          /* collective */
ncupc_ptr ncupc_all_alloc(const char *file, int line, size_t blocks, size_t bytes);
ncupc_ptr ncupc_global_alloc(const char *file, int line, size_t blocks, size_t bytes);
ncupc_ptr ncupc_alloc(const char *file, int line, size_t bytes);
ncupc_ptr ncupc_local_alloc(const char *file, int line, size_t blocks, size_t bytes);
void ncupc_free(const char *file, int line, ncupc_ptr p);
void ncupc_all_free(const char *file, int line, ncupc_ptr p);
#define upc_all_alloc(...) ncupc_all_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_global_alloc(...) ncupc_global_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_alloc(...) ncupc_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_local_alloc(...) ncupc_local_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_free(...) ncupc_free(NCUPC_HERE, __VA_ARGS__)
#define upc_all_free(...) ncupc_all_free(NCUPC_HERE, __VA_ARGS__)

/* ---- Locks: fair queues. A lock has affinity to its allocating thread; those of upc_all_lock_alloc are spread over threads. ---- */

ncupc_ptr upc_all_lock_alloc(void);    /* collective */
ncupc_ptr upc_global_lock_alloc(void); /* by one thread for itself */
void upc_lock(ncupc_ptr lock);
int upc_lock_attempt(ncupc_ptr lock);  /* 1: it is held now */
void upc_unlock(ncupc_ptr lock);
void upc_lock_free(ncupc_ptr lock);
void upc_all_lock_free(ncupc_ptr lock); /* collective */
ncupc_ptr ncupc_all_lock_alloc(const char *file, int line);
ncupc_ptr ncupc_global_lock_alloc(const char *file, int line);
void ncupc_lock(const char *file, int line, ncupc_ptr lock);
int ncupc_lock_attempt(const char *file, int line, ncupc_ptr lock);
void ncupc_unlock(const char *file, int line, ncupc_ptr lock);
void ncupc_lock_free(const char *file, int line, ncupc_ptr lock);
void ncupc_all_lock_free(const char *file, int line, ncupc_ptr lock);
#define upc_all_lock_alloc() ncupc_all_lock_alloc(NCUPC_HERE)
#define upc_global_lock_alloc() ncupc_global_lock_alloc(NCUPC_HERE)
#define upc_lock(...) ncupc_lock(NCUPC_HERE, __VA_ARGS__)
#define upc_lock_attempt(...) ncupc_lock_attempt(NCUPC_HERE, __VA_ARGS__)
#define upc_unlock(...) ncupc_unlock(NCUPC_HERE, __VA_ARGS__)
#define upc_lock_free(...) ncupc_lock_free(NCUPC_HERE, __VA_ARGS__)
#define upc_all_lock_free(...) ncupc_all_lock_free(NCUPC_HERE, __VA_ARGS__)

/* ---- Copies of contiguous bytes: relaxed, and complete here when they return. Source and destination do not overlap. ---- */

void upc_memcpy(ncupc_ptr to, ncupc_ptr from, size_t bytes);
void upc_memget(void *to, ncupc_ptr from, size_t bytes);
void upc_memput(ncupc_ptr to, const void *from, size_t bytes);
void upc_memset(ncupc_ptr to, int value, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
