// The one way that the library includes shmem.h.
//
// C++ sees the functions only: the C11 generic macros are no part of it. SHMEM_CTX_DEFAULT is in
// most libraries a variable, which a preload object must not refer to by name, as the library need
// not be loaded when we are: it is looked up at start (next.h).
#pragma once

#include "host.h"  // generated: NEARCACHE_SHMEM_HAS_<function>, and the name of that variable

#pragma GCC visibility push(default)
#include <shmem.h>
#if __has_include(<shmemx.h>)
#include <shmemx.h>
#endif
#pragma GCC visibility pop

#if defined(NEARCACHE_SHMEM_DEFAULT_CONTEXT) && !defined(NEARCACHE_STATIC)
namespace nearcache::shmem {
extern shmem_ctx_t* default_context __attribute__((visibility("hidden")));  // never null
}
#undef SHMEM_CTX_DEFAULT
#define SHMEM_CTX_DEFAULT (*::nearcache::shmem::default_context)
#endif
