/* Reads and writes of shared memory. Part of nearcache/upc_runtime.h; what the translator emits for
 * an access.
 *
 * A thread whose part of the arena is within reach of loads and stores (this thread itself, and
 * those of the node where the OpenSHMEM library gives a shmem_ptr) is read and written by load and
 * store, behind one test. All others go through shmem_getmem and shmem_putmem, which
 * libnearcache_shmem caches.
 *
 * Relaxed accesses keep the program's order to the same address. A strict access is sequentially
 * consistent, completes before the next shared access, and orders relaxed ones: writes before it
 * are complete, and nothing read before is served after it. Aligned scalars of up to 8 bytes are
 * read and written whole.
 *
 * All arguments are evaluated once, and the macros nest. T is a complete type; qualified types are
 * fine for reads. No <string.h>: a program that does not include it may have an `index` of its own.
 */
#ifndef NEARCACHE_UPC_RUNTIME_ACCESS_H
#define NEARCACHE_UPC_RUNTIME_ACCESS_H

#include "nearcache/upc_runtime_pointer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the arena of a thread is within reach of loads and stores, else null; one for each thread.
 */
#ifdef NCUPC_STRUCT_POINTERS
extern char** ncupc_near;
#else
extern char* ncupc_near[NCUPC_MAX_THREADS];
#endif

/* Writes to other threads may be in flight: a release has something to wait for. */
extern int ncupc_writing;
/* A cache may hold what another thread has changed since: an acquire has something to drop. */
extern int ncupc_caching;
/* Counts loads from memory within reach: a thread that spins on one must let the library make
 * progress on other threads' writes now and then. */
extern int ncupc_until_poll;

void ncupc_poll(void);
void ncupc_poll_strict(void);
void ncupc_complete(void); /* everything written is complete at its target */
void ncupc_drop(void);     /* nothing read before is served after */

/* Accesses to threads out of reach. */
void ncupc_get_far(void* to, ncupc_ptr from, size_t bytes);
void ncupc_put_far(ncupc_ptr to, const void* from, size_t bytes);
void ncupc_get_far_strict(void* to, ncupc_ptr from, size_t bytes);
void ncupc_put_far_strict(ncupc_ptr to, const void* from, size_t bytes);

/* For debuggers: a copy of what is at `from`, valid until the next call. */
const void* ncupc_debug_read(ncupc_ptr from, size_t bytes);

/* Bit-fields: `mask` has the bits of the field set in an image of its struct, `bytes` long; only
 * the bytes that hold the field are read into `image`, or written from it. */
void ncupc_get_bits(ncupc_ptr p, const unsigned char* mask, unsigned char* image, size_t bytes,
                    int strict);
void ncupc_put_bits(ncupc_ptr p, const unsigned char* mask, const unsigned char* image,
                    size_t bytes, int strict);

/* Where `p` points, for loads and stores; null if its thread is out of reach. */
static inline char* ncupc_reach(ncupc_ptr p) {
  char* const base = ncupc_near[ncupc_thread(p)];
  return base ? base + ncupc_address(p) : NULL;
}

/* A pointer to shared as a private one; null for NULL, and for a thread out of reach. */
static inline void* ncupc_local(ncupc_ptr p) {
  return ncupc_is_null(p) ? NULL : (void*)ncupc_reach(p);
}

static inline void ncupc_count_load(void) {
  if (__builtin_expect(--ncupc_until_poll < 0, 0)) ncupc_poll();
}

/* Around a strict access. */
static inline void ncupc_before_strict(void) {
  if (ncupc_writing) ncupc_complete();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void ncupc_after_strict(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (ncupc_caching) ncupc_drop();
}
/* After a strict load: it is ordered before what follows by itself. */
static inline void ncupc_after_strict_load(void) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (ncupc_caching) ncupc_drop();
  if (__builtin_expect((ncupc_until_poll -= 64) < 0, 0)) ncupc_poll_strict();
}

/* Words of any type's memory. */
typedef uint16_t __attribute__((may_alias)) ncupc_word16;
typedef uint32_t __attribute__((may_alias)) ncupc_word32;
typedef uint64_t __attribute__((may_alias)) ncupc_word64;

/* Scalars whole, the rest as memory. */
static inline void ncupc_load_strict(void* to, const void* from, size_t bytes) {
  ncupc_before_strict();
  switch (bytes) {
    case 1:
      *(unsigned char*)to = *(const volatile unsigned char*)from;
      break;
    case 2: {
      const uint16_t value = *(const volatile ncupc_word16*)from;
      __builtin_memcpy(to, &value, sizeof value);
      break;
    }
    case 4: {
      const uint32_t value = *(const volatile ncupc_word32*)from;
      __builtin_memcpy(to, &value, sizeof value);
      break;
    }
    case 8: {
      const uint64_t value = *(const volatile ncupc_word64*)from;
      __builtin_memcpy(to, &value, sizeof value);
      break;
    }
    default:
      __builtin_memcpy(to, from, bytes);
  }
  ncupc_after_strict_load();
}

#ifndef __cplusplus

/* An lvalue at a private address. Scalars are volatile: another thread may change them at any time,
 * and a load must not be torn or made twice. */
#define NCUPC_AT(T, address)                                                         \
  (*__builtin_choose_expr(sizeof(T) <= 8, (volatile __typeof__(T)*)(void*)(address), \
                          (__typeof__(T)*)(void*)(address)))

/* A value of type T and its bytes. */
#define NCUPC_IMAGE(T)                                   \
  union {                                                \
    unsigned char bytes[sizeof(T) != 0 ? sizeof(T) : 1]; \
    __typeof__(T) value;                                 \
  }

/* The value has a variable: the type of ?: would be int for a char, a short or a _Bool. */
#define NCUPC_GET(T, ...)                                                                     \
  __extension__({                                                                             \
    const ncupc_ptr ncupc_from = (__VA_ARGS__);                                               \
    char* const ncupc_at = ncupc_reach(ncupc_from);                                           \
    NCUPC_IMAGE(T) ncupc_image;                                                               \
    if (__builtin_expect(ncupc_at != NULL, 1)) {                                              \
      ncupc_count_load();                                                                     \
    } else {                                                                                  \
      ncupc_get_far(ncupc_image.bytes, ncupc_from, sizeof(T));                                \
    }                                                                                         \
    __typeof__(T) ncupc_value = ncupc_at != NULL ? NCUPC_AT(T, ncupc_at) : ncupc_image.value; \
    ncupc_value;                                                                              \
  })

#define NCUPC_GET_STRICT(T, ...)                                      \
  __extension__({                                                     \
    const ncupc_ptr ncupc_from = (__VA_ARGS__);                       \
    char* const ncupc_at = ncupc_reach(ncupc_from);                   \
    NCUPC_IMAGE(T) ncupc_image;                                       \
    if (__builtin_expect(ncupc_at != NULL, 1)) {                      \
      ncupc_load_strict(ncupc_image.bytes, ncupc_at, sizeof(T));      \
    } else {                                                          \
      ncupc_get_far_strict(ncupc_image.bytes, ncupc_from, sizeof(T)); \
    }                                                                 \
    ncupc_image.value;                                                \
  })

#define NCUPC_PUT(T, p, ...)                            \
  __extension__({                                       \
    const ncupc_ptr ncupc_to = (p);                     \
    __typeof__(T) ncupc_value = (__VA_ARGS__);          \
    char* const ncupc_at = ncupc_reach(ncupc_to);       \
    if (__builtin_expect(ncupc_at != NULL, 1)) {        \
      NCUPC_AT(T, ncupc_at) = ncupc_value;              \
    } else {                                            \
      ncupc_put_far(ncupc_to, &ncupc_value, sizeof(T)); \
    }                                                   \
    ncupc_value;                                        \
  })

#define NCUPC_PUT_STRICT(T, p, ...)                            \
  __extension__({                                              \
    const ncupc_ptr ncupc_to = (p);                            \
    __typeof__(T) ncupc_value = (__VA_ARGS__);                 \
    char* const ncupc_at = ncupc_reach(ncupc_to);              \
    if (__builtin_expect(ncupc_at != NULL, 1)) {               \
      ncupc_before_strict();                                   \
      NCUPC_AT(T, ncupc_at) = ncupc_value;                     \
      ncupc_after_strict();                                    \
    } else {                                                   \
      ncupc_put_far_strict(ncupc_to, &ncupc_value, sizeof(T)); \
    }                                                          \
    ncupc_value;                                               \
  })

/* Field f of a struct or union S at p. The mask is found by the compiler: counting down from 0 sets
 * all bits of any integer field. */
#define NCUPC_GET_FIELD(S, f, strict, ...)                                              \
  __extension__({                                                                       \
    const ncupc_ptr ncupc_from = (__VA_ARGS__);                                         \
    NCUPC_IMAGE(S) ncupc_mask, ncupc_image;                                             \
    __builtin_memset(&ncupc_mask, 0, sizeof ncupc_mask);                                \
    __builtin_memset(&ncupc_image, 0, sizeof ncupc_image);                              \
    ncupc_mask.value.f -= 1;                                                            \
    ncupc_get_bits(ncupc_from, ncupc_mask.bytes, ncupc_image.bytes, sizeof(S), strict); \
    ncupc_image.value.f;                                                                \
  })
#define NCUPC_PUT_FIELD(S, f, strict, p, ...)                                         \
  __extension__({                                                                     \
    const ncupc_ptr ncupc_to = (p);                                                   \
    NCUPC_IMAGE(S) ncupc_mask, ncupc_image;                                           \
    __builtin_memset(&ncupc_mask, 0, sizeof ncupc_mask);                              \
    __builtin_memset(&ncupc_image, 0, sizeof ncupc_image);                            \
    ncupc_mask.value.f -= 1;                                                          \
    ncupc_image.value.f = (__VA_ARGS__);                                              \
    ncupc_put_bits(ncupc_to, ncupc_mask.bytes, ncupc_image.bytes, sizeof(S), strict); \
    ncupc_image.value.f;                                                              \
  })
#define NCUPC_GET_BITS(S, f, ...) NCUPC_GET_FIELD(S, f, 0, __VA_ARGS__)
#define NCUPC_GET_BITS_STRICT(S, f, ...) NCUPC_GET_FIELD(S, f, 1, __VA_ARGS__)
#define NCUPC_PUT_BITS(S, f, p, ...) NCUPC_PUT_FIELD(S, f, 0, p, __VA_ARGS__)
#define NCUPC_PUT_BITS_STRICT(S, f, p, ...) NCUPC_PUT_FIELD(S, f, 1, p, __VA_ARGS__)

#endif

#ifdef __cplusplus
}
#endif
#endif
