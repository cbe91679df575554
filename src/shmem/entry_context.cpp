// Contexts: each has a cache of its own, made at its first access and given back with it.
#include "shmem/context.h"
#include "shmem/next.h"

using namespace nearcache::shmem;

extern "C" {

int shmem_ctx_create(long options, shmem_ctx_t* ctx) {
  if (!active()) return next.ctx_create(options, ctx);
  int rc = 0;
  {
    const Inside inside_library;
    rc = next.ctx_create(options, ctx);
  }
  if (rc == 0)
    context.open_channel(*ctx, (options & SHMEM_CTX_PRIVATE) != 0,
                         (options & SHMEM_CTX_SERIALIZED) != 0);
  return rc;
}

void shmem_ctx_destroy(shmem_ctx_t ctx) {
  if (!active()) return next.ctx_destroy(ctx);
  Channel* channel = context.find(ctx);
  if (channel != nullptr && channel != &context.default_channel) context.close_channel(channel);
  {
    const Inside inside_library;
    next.ctx_destroy(ctx);
  }
  // it completes what was written through it, as a quiet does
  channel == nullptr ? context.acquire() : context.ordered();
}

// PEs are counted in the team there, so it is not known to the cache: what goes through it is
// passed on.
#ifdef NEARCACHE_SHMEM_HAS_team_create_ctx
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  const Inside inside_library;
  return next.team_create_ctx(team, options, ctx);
}
#endif

}  // extern "C"
