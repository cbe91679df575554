/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of shared memory, as the translator emits them. Part of nearcache/upc_runtime.h.
 *
 * If a thread's part of the arena is within reach of loads and stores, it is accessed by load and
 * store, after a single test. That holds for this thread itself, and for threads on the same node
 * if the OpenSHMEM library provides a shmem_ptr. All other accesses use shmem_getmem and
 * shmem_putmem, which libnearcache_shmem caches.
 *
 * Relaxed accesses to the same address keep program order. A strict access is sequentially
 * consistent, completes before the next shared access, and orders relaxed ones: writes before it
 * are complete, and nothing read before it is served after it. Aligned scalars of up to 8 bytes are
 * read and written as a whole.
 *
 * Each macro evaluates its arguments once, and macros may be nested. T is a complete type;
 * qualified types are allowed for reads. This header does not include <string.h>: a program that
 * does not include it may have an `index` of its own. */
#ifndef NEARCACHE_UPC_RUNTIME_ACCESS_H
#define NEARCACHE_UPC_RUNTIME_ACCESS_H

#include "nearcache/upc_runtime_pointer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For each thread, the address of its arena if within reach of loads and stores, else null. */
#ifdef NCUPC_STRUCT_POINTERS
extern char** ncupc_near;
#else
extern char* ncupc_near[NCUPC_MAX_THREADS];
#endif

/* Nonzero if writes to other threads may be in flight, so that a release has something to wait for.
 */
extern int ncupc_writing;
/* Nonzero if a cache may hold data that another thread has changed since, so that an acquire has
 * something to drop. */
extern int ncupc_caching;
/* Counts down loads from memory within reach. A thread that spins on such a load must occasionally
 * let the library make progress on other threads' writes. */
extern int ncupc_until_poll;

void ncupc_poll(void);
void ncupc_poll_strict(void);
void ncupc_complete(void); /* completes all writes at their targets */
void ncupc_drop(void);     /* drops everything read before */

/* Accesses to threads out of reach. */
void ncupc_get_far(void* to, ncupc_ptr from, size_t bytes);
void ncupc_put_far(ncupc_ptr to, const void* from, size_t bytes);
void ncupc_get_far_strict(void* to, ncupc_ptr from, size_t bytes);
void ncupc_put_far_strict(ncupc_ptr to, const void* from, size_t bytes);

/* For debuggers: returns a copy of the bytes at `from`, valid until the next call. */
const void* ncupc_debug_read(ncupc_ptr from, size_t bytes);

/* Bit-fields. `mask` is an image of the struct, `bytes` long, with the bits of the field set. Only
 * the bytes that contain the field are read into `image` or written from it. */
void ncupc_get_bits(ncupc_ptr p, const unsigned char* mask, unsigned char* image, size_t bytes,
                    int strict);
void ncupc_put_bits(ncupc_ptr p, const unsigned char* mask, const unsigned char* image,
                    size_t bytes, int strict);

/* Returns the address of `p` for loads and stores; null if its thread is out of reach. */
static inline char* ncupc_reach(ncupc_ptr p) {
  char* const base = ncupc_near[ncupc_thread(p)];
  return base ? base + ncupc_address(p) : NULL;
}

/* Casts a pointer to shared to a private pointer; null for NULL, or if its thread is out of reach.
 */
static inline void* ncupc_local(ncupc_ptr p) {
  return ncupc_is_null(p) ? NULL : (void*)ncupc_reach(p);
}

static inline void ncupc_count_load(void) {
  if (__builtin_expect(--ncupc_until_poll < 0, 0)) ncupc_poll();
}

/* Called before and after a strict access. */
static inline void ncupc_before_strict(void) {
  if (ncupc_writing) ncupc_complete();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void ncupc_after_strict(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (ncupc_caching) ncupc_drop();
}
/* Called after a strict load, which by itself is ordered before what follows. */
static inline void ncupc_after_strict_load(void) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (ncupc_caching) ncupc_drop();
  if (__builtin_expect((ncupc_until_poll -= 64) < 0, 0)) ncupc_poll_strict();
}

/* Words that may alias any type. */
typedef uint16_t __attribute__((may_alias)) ncupc_word16;
typedef uint32_t __attribute__((may_alias)) ncupc_word32;
typedef uint64_t __attribute__((may_alias)) ncupc_word64;

/* Reads scalars as a whole, other types as memory. */
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
 * and a load must be neither torn nor repeated. */
#define NCUPC_ALIGNED_AT(T, address)                                              \
  (*(__typeof__(__builtin_choose_expr(sizeof(T) <= 8, (volatile __typeof__(T)*)0, \
                                      (__typeof__(T)*)0)))(void*)(address))

/* The same for types of a larger alignment, which members of packed structures may lack. Accesses
 * of up to 8 bytes need none, and stay volatile if a typedef asks for one. (A packed structure with
 * such a member would do as well, but GCC warns of its alignment.) */
#define NCUPC_LOOSE_AT(T, address)                                     \
  (*__extension__({                                                    \
    typedef __typeof__(T) ncupc_loose __attribute__((__aligned__(1))); \
    (ncupc_loose*)(void*)(address);                                    \
  }))
#define NCUPC_AT(T, address)                                                                 \
  __builtin_choose_expr(sizeof(T) <= 8 || __alignof__(T) <= 8, NCUPC_ALIGNED_AT(T, address), \
                        NCUPC_LOOSE_AT(T, address))

/* A union of a value of type T and its bytes. */
#define NCUPC_IMAGE(T)                                   \
  union {                                                \
    unsigned char bytes[sizeof(T) != 0 ? sizeof(T) : 1]; \
    __typeof__(T) value;                                 \
  }

/* The value is stored in a variable because ?: would promote a char, a short or a _Bool to int. */
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

/* Returns where an object's bytes can be read: in memory within reach (a strict read copies them
 * first), or in `image`, to which they are fetched. */
static inline void* ncupc_view(void* image, ncupc_ptr from, size_t bytes) {
  char* const at = ncupc_reach(from);
  if (__builtin_expect(at != NULL, 1)) {
    ncupc_count_load();
    return at;
  }
  ncupc_get_far(image, from, bytes);
  return image;
}

static inline void* ncupc_view_strict(void* image, ncupc_ptr from, size_t bytes) {
  char* const at = ncupc_reach(from);
  if (__builtin_expect(at != NULL, 1)) {
    ncupc_load_strict(image, at, bytes);
  } else {
    ncupc_get_far_strict(image, from, bytes);
  }
  return image;
}

#define NCUPC_GET_STRICT(T, ...)                                    \
  __extension__({                                                   \
    NCUPC_IMAGE(T) ncupc_image;                                     \
    ncupc_view_strict(ncupc_image.bytes, (__VA_ARGS__), sizeof(T)); \
    ncupc_image.value;                                              \
  })

/* A struct or union is read as an lvalue, in whose assignment the compiler copies padding as well:
 * it may replace variables by their members. Each image stays on the stack until the end of its
 * block, so large ones are read as other values are, as are those that may lack their alignment. */
#define NCUPC_GET_RECORD(T, ...)                                                              \
  __builtin_choose_expr(                                                                      \
      sizeof(T) <= 512 && __alignof__(T) <= 8,                                                \
      NCUPC_ALIGNED_AT(T, ncupc_view((NCUPC_IMAGE(T)){{0}}.bytes, (__VA_ARGS__), sizeof(T))), \
      NCUPC_GET(T, __VA_ARGS__))

#define NCUPC_GET_RECORD_STRICT(T, ...)                                                    \
  __builtin_choose_expr(sizeof(T) <= 512 && __alignof__(T) <= 8,                           \
                        NCUPC_ALIGNED_AT(T, ncupc_view_strict((NCUPC_IMAGE(T)){{0}}.bytes, \
                                                              (__VA_ARGS__), sizeof(T))),  \
                        NCUPC_GET_STRICT(T, __VA_ARGS__))

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

/* Accesses field f of a struct or union S at p. The compiler computes the mask: decrementing a
 * field that is 0 sets all its bits, whatever its integer type. */
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
