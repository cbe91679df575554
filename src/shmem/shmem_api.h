// The one way that the library includes shmem.h.
//
// C++ sees the functions only: the C11 generic macros are no part of it. SHMEM_CTX_DEFAULT and
// SHMEM_TEAM_WORLD are in most libraries variables, which a preload object must not refer to by
// name, as the library need not be loaded when we are: they are looked up at start (next.h). A
// static build has their addresses from the linker.
#pragma once

#include "host.h"  // generated: NEARCACHE_SHMEM_HAS_<function>, and the names of those variables

#pragma GCC visibility push(default)
#include <shmem.h>
#if __has_include(<shmemx.h>)
#include <shmemx.h>
#endif
#pragma GCC visibility pop

#ifdef NEARCACHE_SHMEM_DEFAULT_CONTEXT
namespace nearcache::shmem {
#ifdef NEARCACHE_STATIC
constexpr shmem_ctx_t* linked_default_context = &SHMEM_CTX_DEFAULT;
#endif
extern shmem_ctx_t* default_context __attribute__((visibility("hidden")));  // never null
}  // namespace nearcache::shmem
#undef SHMEM_CTX_DEFAULT
#define SHMEM_CTX_DEFAULT (*::nearcache::shmem::default_context)
#endif

#if defined(NEARCACHE_SHMEM_HAS_team_create_ctx) && defined(NEARCACHE_SHMEM_TEAM_WORLD)
#define NEARCACHE_SHMEM_FINDS_TEAM_WORLD 1
namespace nearcache::shmem {
// null where the library has none by that name
extern shmem_team_t* team_world __attribute__((visibility("hidden")));
}  // namespace nearcache::shmem
#endif
