// SPDX-License-Identifier: BSD-3-Clause

// The only place where we include shmem.h.
//
// C++ sees the functions only, not the C11 generic macros. In most libraries SHMEM_CTX_DEFAULT and
// SHMEM_TEAM_WORLD are variables. A preloaded object must not refer to them by name, as the library
// may be loaded later: they are looked up at start (next.h). A static build gets their addresses
// from the linker.
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
// null if the library has no variable of that name
extern shmem_team_t* team_world __attribute__((visibility("hidden")));
}  // namespace nearcache::shmem
#endif
