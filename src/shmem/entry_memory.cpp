// SPDX-License-Identifier: BSD-3-Clause

// The symmetric heap. Allocation and freeing are collective and end or begin with a barrier, so
// they are releases and acquires.
#include "shmem/context.h"
#include "shmem/network_model.h"
#include "shmem/next.h"

using namespace nearcache::shmem;

namespace {

// From now on no context writes back any of it, or serves any of it.
void forget(void* block, size_t bytes) {
  if (bytes == 0) return;
  context.each_channel([&](Channel& channel) {
    const ChannelLock lock(&channel);
    if (channel.ready_cache() != nullptr)
      channel.ready_cache()->forget(reinterpret_cast<uint64_t>(block), bytes);
  });
}

// `call` returns the block.
template <class Call>
void* allocate(size_t bytes, bool hinted, Call call) {
  const Release release(true);
  void* block = call();
  context.memory.allocated(block, bytes, hinted);
  return block;
}

template <class Call>
void free_block(void* block, Call call) {
  // the block's own bytes, too: a PE may wait for what was written there before it calls free
  const Release release(true);
  forget(block, context.memory.block_bytes(block));
  context.memory.freed(block);
  call(block);
}

// The old block's contents move within each PE, so everything written to it must have arrived.
template <class Call>
void* reallocate(void* old_block, size_t bytes, Call call) {
  const size_t old_bytes = context.memory.block_bytes(old_block);
  const bool apart = context.memory.is_apart(old_block);
  void* block = nullptr;
  {
    const Release release(true);
    block = call(old_block, bytes);
    if (block != nullptr || bytes == 0) {
      context.memory.freed(old_block);
      context.memory.allocated(block, bytes, apart);
    }
  }
  if (block != old_block && (block != nullptr || bytes == 0)) {
    forget(old_block, old_bytes);
  } else if (block == old_block && bytes < old_bytes) {
    forget(static_cast<char*>(old_block) + bytes, old_bytes - bytes);
  }
  return block;
}

}  // namespace

extern "C" {

void* shmem_malloc(size_t size) {
  if (!active()) return next.malloc(size);
  calling = "shmem_malloc";
  return allocate(size, false, [&] { return next.malloc(size); });
}

void* shmem_calloc(size_t count, size_t size) {
  if (!active()) return next.calloc(count, size);
  calling = "shmem_calloc";
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = 0;  // the library reports the error
  return allocate(bytes, false, [&] { return next.calloc(count, size); });
}

void* shmem_align(size_t alignment, size_t size) {
  if (!active()) return next.align(alignment, size);
  calling = "shmem_align";
  return allocate(size, false, [&] { return next.align(alignment, size); });
}

void* shmem_realloc(void* block, size_t size) {
  if (!active()) return next.realloc(block, size);
  calling = "shmem_realloc";
  return reallocate(block, size, next.realloc);
}

void shmem_free(void* block) {
  if (!active()) return next.free(block);
  calling = "shmem_free";
  free_block(block, next.free);
}

// Returns null for other PEs if a network is modelled: their memory is on its far side.
void* shmem_ptr(const void* object, int pe) {
  if (network_modelled() && pe != context.pe) return nullptr;
  return next.ptr(object, pe);
}

#ifdef NEARCACHE_SHMEM_HAS_team_ptr
void* shmem_team_ptr(shmem_team_t team, const void* object, int pe) {
  if (network_modelled() && pe != next.team_my_pe(team)) return nullptr;
  return next.team_ptr(team, object, pe);
}
#endif

#ifdef NEARCACHE_SHMEM_HAS_malloc_with_hints
void* shmem_malloc_with_hints(size_t size, long hints) {
  if (!active()) return next.malloc_with_hints(size, hints);
  calling = "shmem_malloc_with_hints";
  return allocate(size, hints != 0, [&] { return next.malloc_with_hints(size, hints); });
}
#endif

#ifdef NEARCACHE_SHMEM_HAS_x_malloc_with_hint
void* shmemx_malloc_with_hint(size_t size, long hint) {
  if (!active()) return next.x_malloc_with_hint(size, hint);
  calling = "shmemx_malloc_with_hint";
  return allocate(size, hint != 0, [&] { return next.x_malloc_with_hint(size, hint); });
}
#endif

#ifdef NEARCACHE_SHMEM_HAS_old_shmalloc
void* shmalloc(size_t size) {
  if (!active()) return next.old_shmalloc(size);
  calling = "shmalloc";
  return allocate(size, false, [&] { return next.old_shmalloc(size); });
}
#endif

#ifdef NEARCACHE_SHMEM_HAS_old_shmemalign
void* shmemalign(size_t alignment, size_t size) {
  if (!active()) return next.old_shmemalign(alignment, size);
  calling = "shmemalign";
  return allocate(size, false, [&] { return next.old_shmemalign(alignment, size); });
}
#endif

#ifdef NEARCACHE_SHMEM_HAS_old_shrealloc
void* shrealloc(void* block, size_t size) {
  if (!active()) return next.old_shrealloc(block, size);
  calling = "shrealloc";
  return reallocate(block, size, next.old_shrealloc);
}
#endif

#ifdef NEARCACHE_SHMEM_HAS_old_shfree
void shfree(void* block) {
  if (!active()) return next.old_shfree(block);
  calling = "shfree";
  free_block(block, next.old_shfree);
}
#endif

}  // extern "C"
