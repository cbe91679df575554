// SPDX-License-Identifier: BSD-3-Clause

// The functions of nearcache/shmem.h.
#include <algorithm>

#include "base/round.h"
#include "shmem/context.h"
#include "shmem/report_gather.h"
#include "telemetry/fill_stats.h"

// The public C header declares the library's own names weak; here they are defined.
#define NEARCACHE_SHMEM_EXPORT extern "C" __attribute__((visibility("default")))

namespace nearcache::shmem {
namespace {

enum { ok = 0, argument = 1, absent = 2 };  // as in nearcache/shmem.h

bool caching() { return active() && context.caching; }

// True if the default context has a cache; creates it if necessary.
bool default_context_is_cached() {
  if (!caching()) return false;
  const ChannelLock lock(&context.default_channel);
  return context.default_channel.cache() != nullptr;
}

void make_uncached(uint64_t begin, uint64_t end) {
  const uint64_t line = context.cache_options.line;
  begin = round_down(begin, line);
  end = round_up(end, line);
  context.memory.add_uncached(begin, end - begin);  // from here on other threads bypass the cache
  context.each_usable_channel([&](Channel& channel) {
    channel.complete();
    if (channel.ready_cache() != nullptr) channel.ready_cache()->forget(begin, end - begin);
  });
}

// With several threads the lock may be held during a transfer: a hint does not wait for that.
void prefetch(uint64_t address, size_t bytes, int pe) {
  SymmetricMemory& memory = context.memory;
  if (bytes == 0 || !memory.valid_pe(pe) || pe == context.pe) return;
  const SymmetricMemory::Resolved place = memory.resolve(address, 1);
  if (place.kind == MemoryKind::unknown || place.uncached || memory.near(pe, place.kind, address))
    return;
  bytes = std::min<uint64_t>(bytes, place.cacheable.end - address);
  Channel& channel = context.default_channel;
  std::unique_lock lock(channel.mutex(), std::defer_lock);
  if (context.threaded && !lock.try_lock()) return;
  channel.catch_up();
  if (PageCache* cache = channel.cache()) cache->prefetch(pe, address, bytes);
}

size_t prefetch_distance() {
  const ChannelLock lock(&context.default_channel);
  const PageCache* cache = context.default_channel.ready_cache();
  return cache == nullptr ? 0 : cache->prefetch_distance();
}

}  // namespace
}  // namespace nearcache::shmem

using namespace nearcache::shmem;

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_caching(void) {
  return default_context_is_cached() ? 1 : 0;
}

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_uncached(const void* ptr, size_t bytes) {
  if (!caching()) return absent;
  const auto begin = reinterpret_cast<uint64_t>(ptr);
  if (bytes == 0 || context.memory.find(begin, bytes).kind == MemoryKind::unknown) return argument;
  make_uncached(begin, begin + bytes);
  return ok;
}

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_ctx_uncached(shmem_ctx_t ctx) {
  if (!caching()) return absent;
  Channel* channel = context.find(ctx);
  if (channel == nullptr) return argument;
  const ChannelLock lock(channel);
  channel->leave_uncached();
  return ok;
}

NEARCACHE_SHMEM_EXPORT void nearcache_shmem_impl_prefetch(const void* ptr, size_t bytes, int pe) {
  if (caching()) prefetch(reinterpret_cast<uint64_t>(ptr), bytes, pe);
}

NEARCACHE_SHMEM_EXPORT size_t nearcache_shmem_impl_prefetch_distance(void) {
  return caching() ? prefetch_distance() : 0;
}

NEARCACHE_SHMEM_EXPORT void nearcache_shmem_impl_acquire_by(const char* call) {
  if (!caching()) return;
  calling = call;
  context.acquire();
}

NEARCACHE_SHMEM_EXPORT void nearcache_shmem_impl_acquire(void) {
  nearcache_shmem_impl_acquire_by("nearcache_shmem_acquire");
}

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_name(const void* ptr, size_t bytes,
                                                     const char* name) {
  if (!caching()) return absent;
  const auto begin = reinterpret_cast<uint64_t>(ptr);
  if (bytes == 0 || name == nullptr || *name == '\0' ||
      context.memory.find(begin, bytes).kind == MemoryKind::unknown)
    return argument;
  context.memory.name(begin, bytes, name);
  return ok;
}

NEARCACHE_SHMEM_EXPORT void nearcache_shmem_impl_release(void) {
  if (!caching()) return;
  calling = "nearcache_shmem_release";
  context.each_usable_channel([](Channel& channel) { channel.complete(); });
}

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_set_relaxed_atomics(int relaxed) {
  return context.relaxed_atomics.exchange(relaxed != 0) ? 1 : 0;
}

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_set_unordered(int is_unordered) {
  const bool was = unordered;
  unordered = is_unordered != 0;
  return was ? 1 : 0;
}

NEARCACHE_SHMEM_EXPORT int nearcache_shmem_impl_stats(nearcache_stats* stats) {
  if (!caching()) return absent;
  return nearcache::fill_stats(stats, process_counters()) ? ok : argument;
}
