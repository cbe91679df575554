/* Preprocessed only, to learn of which family and version a shmem.h is
 * (cmake/NearcacheShmem.cmake). */
#include <shmem.h>
#define DOTTED2(a, b) a.b
#define EXPANDED2(a, b) DOTTED2(a, b)
#define DOTTED3(a, b, c) a.b.c
#define EXPANDED3(a, b, c) DOTTED3(a, b, c)
#if defined(OSHMEM_MAJOR_VERSION)
nearcache_family oshmem EXPANDED3(OSHMEM_MAJOR_VERSION, OSHMEM_MINOR_VERSION,
                                  OSHMEM_RELEASE_VERSION)
#elif defined(SHMEM_MAJOR_VERSION)
nearcache_family openshmem EXPANDED2(SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION)
#endif
#ifdef SHMEM_VENDOR_STRING
nearcache_vendor SHMEM_VENDOR_STRING
#endif
