// SPDX-License-Identifier: BSD-3-Clause

// Contexts. Each has its own cache, created at its first access and freed with the context.
#include <optional>
#include <utility>

#include "shmem/context.h"
#include "shmem/next.h"

using namespace nearcache::shmem;

namespace {

void open_channel(shmem_ctx_t ctx, long options, ChannelTeam team = {}) {
  context.open_channel(ctx, (options & SHMEM_CTX_PRIVATE) != 0,
                       (options & SHMEM_CTX_SERIALIZED) != 0, std::move(team));
}

#ifdef NEARCACHE_SHMEM_HAS_team_create_ctx

std::optional<shmem_team_t> world_team() {
#ifdef NEARCACHE_SHMEM_FINDS_TEAM_WORLD
  return team_world == nullptr ? std::nullopt : std::optional(*team_world);
#else
  return SHMEM_TEAM_WORLD;
#endif
}

// The PEs of a team; nothing if the library does not tell all of them.
std::optional<ChannelTeam> pes_of(shmem_team_t team) {
  const std::optional<shmem_team_t> world = world_team();
  if (!world || next.team_n_pes == nullptr || next.team_translate_pe == nullptr) return {};
  const Inside inside_library;
  const int pes = next.team_n_pes(team);
  if (pes <= 0) return {};
  ChannelTeam found{true, nearcache::handle_bits(team), {}, {}};
  found.numbers.assign(static_cast<size_t>(context.pes), -1);
  for (int pe = 0; pe < pes; ++pe) {
    const int world_pe = next.team_translate_pe(team, pe, *world);
    if (!context.memory.valid_pe(world_pe)) return {};
    found.members.push_back(world_pe);
    found.numbers[static_cast<size_t>(world_pe)] = pe;
  }
  return found;
}

// Destroying a team destroys its contexts, except for other threads' private ones, which the
// program must have destroyed before (OpenSHMEM 1.6, shmem_team_destroy).
void close_channels_of(uint64_t team_bits) {
  context.each_channel([&](Channel& channel) {
    bool goes = false;
    {
      const ChannelLock lock(&channel);
      goes = channel.is_open() && channel.is_of_team(team_bits) && !channel.foreign();
    }
    if (goes) context.close_channel(&channel);
  });
}

#endif

}  // namespace

extern "C" {

int shmem_ctx_create(long options, shmem_ctx_t* ctx) {
  if (!active()) return next.ctx_create(options, ctx);
  int rc = 0;
  {
    const Inside inside_library;
    rc = next.ctx_create(options, ctx);
  }
  if (rc == 0) open_channel(*ctx, options);
  return rc;
}

void shmem_ctx_destroy(shmem_ctx_t ctx) {
  if (!active()) return next.ctx_destroy(ctx);
  calling = "shmem_ctx_destroy";
  Channel* channel = context.find(ctx);
  if (channel != nullptr && channel != &context.default_channel) context.close_channel(channel);
  {
    const Inside inside_library;
    next.ctx_destroy(ctx);
  }
  // destroying it completes what was written through it, like a quiet
  channel == nullptr ? context.acquire() : context.ordered();
}

#ifdef NEARCACHE_SHMEM_HAS_team_create_ctx
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  if (!active()) return next.team_create_ctx(team, options, ctx);
  int rc = 0;
  {
    const Inside inside_library;
    rc = next.team_create_ctx(team, options, ctx);
  }
  if (rc != 0) return rc;
  std::optional<ChannelTeam> pes = pes_of(team);
  if (pes) open_channel(*ctx, options, std::move(*pes));  // else passed on uncached
  return rc;
}

void shmem_team_destroy(shmem_team_t team) {
  if (!active()) return next.team_destroy(team);
  calling = "shmem_team_destroy";
  close_channels_of(nearcache::handle_bits(team));
  const Wait around;
  next.team_destroy(team);
}
#endif

}  // extern "C"
