// SPDX-License-Identifier: BSD-3-Clause

// Gets and puts, and accesses that bypass the cache.
#include <cstring>

#include "base/clock.h"
#include "shmem/context.h"
#include "shmem/network_model.h"
#include "shmem/next.h"
#include "shmem/thread_end.h"

namespace nearcache::shmem {
namespace {

// The route of a transfer.
enum class Way {
  // nothing to transfer, an error that the library must report, or a context that we do not know
  host,
  straight,  // the PE is reached by loads and stores: nothing of it is ever cached
  direct,    // too large, uncached, or unknown memory: bypasses the cache, which may hold parts
  cached
};

// A route and, if the transfer is cached, what may be fetched around it.
struct Route {
  Way way;
  Extent around;
};

Route route_of(const Channel* channel, int pe, uint64_t address, size_t bytes) {
  if (channel == nullptr || bytes == 0) return {Way::host, {}};
  const int world_pe = channel->world_pe(pe);
  if (!context.memory.valid_pe(world_pe)) return {Way::host, {}};
  if (world_pe == context.pe) return {Way::straight, {}};
  if (context.memory.near_everywhere(address, bytes)) return {Way::straight, {}};
  const SymmetricMemory::Resolved place = context.memory.resolve(address, bytes);
  if (place.kind == MemoryKind::unknown) return {Way::direct, {}};
  if (context.memory.near(world_pe, place.kind, address)) {
    if (!context.threaded && context.memory.look_near_everywhere() && nothing_cached)
      near_heap.open(context.memory.near_heap(), context.memory.heap_offsets());
    return {Way::straight, {}};
  }
  if (bytes > context.options.shmem_max_transfer || place.uncached) return {Way::direct, {}};
  return {Way::cached, place.cacheable};
}

Way way_of(const Channel* channel, int pe, uint64_t address, size_t bytes) {
  return route_of(channel, pe, address, bytes).way;
}

// Checks the route again once the channel's lock is held, if it goes through the cache: another
// thread may have declared the range uncached and dropped what was cached of it.
Route route_still(const Route& route, const Channel* channel, int pe, uint64_t address,
                  size_t bytes) {
  return context.threaded && route.way == Way::cached ? route_of(channel, pe, address, bytes)
                                                      : route;
}
PageCache* cache_for(const Route& route, Channel* channel) {
  return route.way == Way::cached ? channel->cache() : nullptr;
}

// For transfers that do not concern the cache. Only serialised contexts are locked, because our
// other threads write back through them.
class StraightLock {
 public:
  explicit StraightLock(Channel* channel)
      : channel_(context.threaded && channel->serialised() ? channel : nullptr) {
    if (channel_ != nullptr) channel_->mutex().lock();
  }
  ~StraightLock() {
    if (channel_ != nullptr) channel_->mutex().unlock();
  }
  StraightLock(const StraightLock&) = delete;
  StraightLock& operator=(const StraightLock&) = delete;
  Channel* release() {
    Channel* held = channel_;
    channel_ = nullptr;
    return held;
  }

 private:
  Channel* channel_;
};

void count_get(Channel* channel, int pe, uint64_t address, size_t bytes) {
  channel->tallies.gets += 1;
  channel->tallies.get_bytes += bytes;
  context.profile.went_past(channel->world_pe(pe), address, bytes);
}

void count_put(Channel* channel, size_t bytes) {
  channel->tallies.puts += 1;
  channel->tallies.put_bytes += bytes;
}

// What the cache must do before the program reads without it.
void before_get(Channel* channel, int pe, uint64_t address, size_t bytes) {
  count_get(channel, pe, address, bytes);
  PageCache* cache = channel->ready_cache();
  if (cache != nullptr) cache->before_direct_get(pe, address, bytes);
}

// What the cache must do before the program writes all of the range without it.
void before_put(Channel* channel, int pe, uint64_t address, size_t bytes) {
  count_put(channel, bytes);
  PageCache* cache = channel->ready_cache();
  if (cache != nullptr) cache->before_direct_put(pe, address, bytes);
  channel->wrote_directly();
}

// Like before a full write, but for a change of parts of the range.
void before_update(Channel* channel, int pe, uint64_t address, size_t bytes) {
  PageCache* cache = channel->ready_cache();
  if (cache != nullptr) cache->before_direct_update(pe, address, bytes);
  channel->wrote_directly();
}

// Like the above, for a call that returns only when the change is complete.
void before_fetch(Channel* channel, int pe, uint64_t address, size_t bytes) {
  PageCache* cache = channel->ready_cache();
  if (cache != nullptr) cache->before_direct_fetch(pe, address, bytes);
}

// True if the program may learn of other PEs' writes from the value that an atomic of this thread
// returns.
bool acquiring() { return !unordered && !context.relaxed_atomics.load(std::memory_order_relaxed); }

// A program that spins on an atomic is waiting, and the answer may depend on what is still dirty
// here. Relaxed atomics are frequent and seldom waited for; a thread that orders its accesses
// itself has usually done so.
void start_for_fetch() {
  if (nothing_cached) return;
  constexpr uint32_t relaxed_a_start = 16, unordered_a_start = 64;
  static thread_local uint32_t fetches = 0;
  ++fetches;
  if (!acquiring() && fetches % (unordered ? unordered_a_start : relaxed_a_start) != 0) return;
  context.observer.sync(context.default_channel, TraceSync::write_back);
  context.start_write_back();
}

// Likewise for a program that spins on a word that no cache holds: it reads the word twice in a
// row. A program that polls several words in turn, or does more in its loop, gets its answer a
// little later.
bool looks_like_spinning(const void* word, int pe) {
  if (nothing_cached) return false;
  constexpr uint32_t reads_a_start = 64;
  static thread_local const void* last = nullptr;
  static thread_local int last_pe = -1;
  static thread_local uint32_t reads = 0;
  const bool again = word == last && pe == last_pe;
  last = word;
  last_pe = pe;
  return again || ++reads % reads_a_start == 0;
}
void look_for_spinning(const void* word, int pe) {
  if (looks_like_spinning(word, pe)) context.start_write_back();
}

// A get that the cache serves or fetches. Returns true if the program may be waiting for an answer:
// then the cache has started writing back its own context, and the caller starts the others after
// releasing the lock.
bool get_cached(Channel* channel, const Extent& around, int pe, uint64_t address, void* to,
                size_t bytes, bool blocks) {
  PageCache* cache = channel->ready_cache();
  const uint64_t before = cache->waits_suspected();
  channel->surrounded_by(around);
  if (context.check.on()) [[unlikely]] {
    const HitCheck::Kept kept(*cache, pe, address, bytes, context.cache_options.line);
    cache->get(pe, address, to, bytes);
    context.check.compare(channel, kept, pe, address, to, bytes);
  } else if (channel->is_shared()) {
    note_thread_reads();
    cache->get(page_reader, pe, address, to, bytes);
  } else {
    cache->get(pe, address, to, bytes);
  }
  if (context.observer.tracing()) [[unlikely]]
    context.observer.get(*channel, blocks ? Outcome::full : Outcome::pending, pe, address, bytes);
  channel->surrounded_by({});  // may not hold for later accesses
  return cache->waits_suspected() != before;
}

uint64_t bits_of(const void* address) { return reinterpret_cast<uint64_t>(address); }

// A get that bypasses the cache; a trace records the time of some of them.
void get_timed(Channel* channel, void* to, uint64_t address, size_t bytes, int pe) {
  if (!context.observer.tracing()) return channel->get_plainly(to, address, bytes, pe);
  const uint64_t begin = system_ns();
  channel->get_plainly(to, address, bytes, pe);
  context.observer.cost(TraceCost::get, bytes, system_ns() - begin);
}
void put_timed(Channel* channel, uint64_t address, const void* from, size_t bytes, int pe) {
  if (!context.observer.tracing()) return channel->put_plainly(address, from, bytes, pe);
  const uint64_t begin = system_ns();
  channel->put_plainly(address, from, bytes, pe);
  context.observer.cost(TraceCost::put, bytes, system_ns() - begin);
}

// A hit without the lock was refused because a check for polling was due: the program does not
// poll.
bool shared_hit_after_look(const Channel* channel, void* to, const void* from, size_t bytes,
                           int pe) {
  if (channel != &context.default_channel) return false;
  const PageCache* cache = shared.cache.load(std::memory_order_acquire);
  return cache != nullptr && cache->looked(page_reader) && shared_hit(to, from, bytes, pe);
}

void watch_get(const Channel* channel, int pe, uint64_t address, size_t bytes) {
  if (context.check.on()) [[unlikely]]
    context.check.getting(channel == nullptr ? pe : channel->world_pe(pe), address, bytes);
}

}  // namespace

void get_not_quickly(void* to, const void* from, size_t bytes, int pe) {
  if (bytes == 0 || (!near_heap.get(to, from, bytes, pe) && !shared_hit(to, from, bytes, pe)))
    get_slowly(SHMEM_CTX_DEFAULT, to, from, bytes, pe);
}

void put_not_quickly(void* to, const void* from, size_t bytes, int pe) {
  if (bytes == 0 || !near_heap.put(to, from, bytes, pe))
    put_slowly(SHMEM_CTX_DEFAULT, to, from, bytes, pe);
}

void get_slowly(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  Channel* channel = context.find(ctx);
  const uint64_t address = bits_of(from);
  const Route route = route_of(channel, pe, address, bytes);
  watch_get(channel, pe, address, bytes);
  switch (route.way) {
    case Way::host: {
      look_for_spinning(from, pe);
      const Inside inside_library;
      if (channel == &context.default_channel) return next.getmem(to, from, bytes, pe);
      return next.ctx_getmem(ctx, to, from, bytes, pe);
    }
    case Way::straight: {
      look_for_spinning(from, pe);
      count_get(channel, pe, address, bytes);
      const StraightLock lock(channel);
      return channel->get_plainly(to, address, bytes, pe);
    }
    case Way::direct: {
      look_for_spinning(from, pe);
      const ChannelLock lock(channel);
      before_get(channel, pe, address, bytes);
      get_timed(channel, to, address, bytes, pe);
      return context.observer.get(*channel, Outcome::uncached, pe, address, bytes);
    }
    case Way::cached: {
      if (shared_hit_after_look(channel, to, from, bytes, pe)) return;
      bool may_wait = false;
      {
        const ChannelLock lock(channel);
        const Route still = route_still(route, channel, pe, address, bytes);
        if (cache_for(still, channel) != nullptr) {
          may_wait = get_cached(channel, still.around, pe, address, to, bytes, true);
        } else {
          count_get(channel, pe, address, bytes);
          get_timed(channel, to, address, bytes, pe);
          context.observer.get(*channel, Outcome::uncached, pe, address, bytes);
          may_wait = looks_like_spinning(from, pe);
        }
      }
      if (may_wait) context.start_write_back();
      return;
    }
  }
}

void put_slowly(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  near_heap.hold();
  Channel* channel = context.find(ctx);
  const uint64_t address = bits_of(to);
  const Route route = route_of(channel, pe, address, bytes);
  switch (route.way) {
    case Way::host: {
      const Inside inside_library;
      if (channel == &context.default_channel) return next.putmem(to, from, bytes, pe);
      return next.ctx_putmem(ctx, to, from, bytes, pe);
    }
    case Way::straight: {
      count_put(channel, bytes);
      const StraightLock lock(channel);
      return channel->put_plainly(address, from, bytes, pe);
    }
    case Way::direct: {
      const ChannelLock lock(channel);
      context.observer.write(*channel, TraceWrite::put, pe, address, bytes);
      before_put(channel, pe, address, bytes);
      return put_timed(channel, address, from, bytes, pe);
    }
    case Way::cached: {
      if (context.threaded) note_thread_writes();
      const ChannelLock lock(channel);
      PageCache* cache = cache_for(route_still(route, channel, pe, address, bytes), channel);
      context.observer.write(*channel, TraceWrite::put, pe, address, bytes);
      if (cache != nullptr) return cache->put(pe, address, from, bytes);
      before_put(channel, pe, address, bytes);
      return put_timed(channel, address, from, bytes, pe);
    }
  }
}

bool get_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  Channel* channel = context.find(ctx);
  if (channel == &context.default_channel && bytes != 0 && near_heap.get(to, from, bytes, pe))
    return true;
  const uint64_t address = bits_of(from);
  const Route route = route_of(channel, pe, address, bytes);
  watch_get(channel, pe, address, bytes);
  if (route.way != Way::cached) look_for_spinning(from, pe);
  if (route.way == Way::host) return false;
  if (route.way == Way::straight) {
    const StraightLock lock(channel);
    count_get(channel, pe, address, bytes);
    if (!unordered) channel->fetches_outstanding();
    channel->get_nbi_plainly(to, address, bytes, pe);
    return true;
  }
  bool may_wait = false;
  {
    const ChannelLock lock(channel);
    if (!unordered) channel->fetches_outstanding();
    const Route still = route_still(route, channel, pe, address, bytes);
    const PageCache* cache = cache_for(still, channel);
    if (cache != nullptr &&
        (channel->follows_last_get(pe, address, bytes) || cache->holds(pe, address, bytes))) {
      may_wait = get_cached(channel, still.around, pe, address, to, bytes, false);
    } else {
      const uint64_t before = cache != nullptr ? cache->waits_suspected() : 0;
      before_get(channel, pe, address, bytes);
      context.observer.get(*channel, Outcome::pending, pe, address, bytes);
      channel->get_nbi_plainly(to, address, bytes, pe);
      may_wait = cache != nullptr ? cache->waits_suspected() != before
                                  : route.way == Way::cached && looks_like_spinning(from, pe);
    }
  }
  if (may_wait) context.start_write_back();
  return true;
}

bool put_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  Channel* channel = context.find(ctx);
  if (channel == &context.default_channel && bytes != 0 && near_heap.put(to, from, bytes, pe))
    return true;
  near_heap.hold();
  const uint64_t address = bits_of(to);
  const Route route = route_of(channel, pe, address, bytes);
  if (route.way == Way::host) return false;
  if (route.way == Way::straight) {
    const StraightLock lock(channel);
    count_put(channel, bytes);
    channel->put_nbi(address, from, bytes, pe);
    return true;
  }
  if (context.threaded) note_thread_writes();
  const ChannelLock lock(channel);
  PageCache* cache = cache_for(route_still(route, channel, pe, address, bytes), channel);
  context.observer.write(*channel, TraceWrite::put, pe, address, bytes);
  if (cache != nullptr) {
    cache->put(pe, address, from, bytes);
    return true;
  }
  before_put(channel, pe, address, bytes);
  channel->put_nbi(address, from, bytes, pe);
  return true;
}

DirectCall::DirectCall(shmem_ctx_t ctx, Kind kind, const void* object, size_t bytes, int pe)
    : bytes_(bytes), pe_(pe) {
  if (kind == Kind::update) near_heap.hold();
  Channel* channel = context.find(ctx);
  const uint64_t address = bits_of(object);
  if (channel == &context.default_channel && near_heap.has(object, bytes, pe)) [[likely]] {
    channel_ = channel;
    if (kind == Kind::get) count_get(channel, pe, address, bytes);
    ++inside;
    return;
  }
  const Way way = way_of(channel, pe, address, bytes);
  channel_ = way == Way::host ? nullptr : channel;
  if (way == Way::straight) {
    if (kind == Kind::get) count_get(channel, pe, address, bytes);
    StraightLock lock(channel);
    held_ = lock.release();
  } else if (way != Way::host) {
    ChannelLock lock(channel);
    if (kind == Kind::get) {
      context.observer.get(*channel, Outcome::bypassed, pe, address, bytes);
      before_get(channel, pe, address, bytes);
      if (channel->serialised()) held_ = lock.release();  // otherwise others may overtake a get
    } else {
      context.observer.write(*channel,
                             kind == Kind::fetch ? TraceWrite::fetch : TraceWrite::accumulate, pe,
                             address, bytes);
      kind == Kind::fetch ? before_fetch(channel, pe, address, bytes)
                          : before_update(channel, pe, address, bytes);
      held_ = lock.release();
    }
  }
  ++inside;
}

DirectCall::~DirectCall() {
  --inside;
  let_go();
}

void DirectCall::hold(Channel* channel) {
  if (held_ != nullptr) return;
  ChannelLock lock(channel);
  held_ = lock.release();
}

void DirectCall::let_go() {
  if (held_ != nullptr) held_->mutex().unlock();
  held_ = nullptr;
}

DirectGet::DirectGet(shmem_ctx_t ctx, const void* from, size_t bytes, int pe)
    : call_((look_for_spinning(from, pe), ctx), DirectCall::Kind::get, from, bytes, pe) {}
DirectGet::~DirectGet() { model_answer(call_.channel(), call_.pe(), call_.bytes()); }

DirectUpdate::DirectUpdate(shmem_ctx_t ctx, const void* to, size_t bytes, int pe)
    : call_(ctx, DirectCall::Kind::update, to, bytes, pe) {
  if (call_.channel() != nullptr) call_.channel()->tallies.accumulates += 1;
}
DirectUpdate::~DirectUpdate() { model_post(call_.channel(), call_.pe(), call_.bytes()); }

FetchingAtomic::FetchingAtomic(shmem_ctx_t ctx, const void* target, size_t bytes, int pe)
    : call_((start_for_fetch(), ctx), DirectCall::Kind::fetch, target, bytes, pe),
      target_(target),
      known_(call_.channel() != nullptr || context.find(ctx) != nullptr) {
  if (call_.channel() != nullptr) call_.channel()->tallies.accumulates += 1;
}
FetchingAtomic::~FetchingAtomic() {
  if (nothing_cached) return;
  model_answer(call_.channel(), call_.pe(), call_.bytes());
  if (!acquiring() && context.check.on() && call_.channel() != nullptr)
    context.check.called(calling, true, call_.channel()->world_pe(call_.pe()), bits_of(target_));
  if (acquiring() || !known_) {
    context.acquire();
  } else if (call_.channel() != nullptr) {
    call_.let_go();  // other contexts' locks are taken next
    context.drop_in_others(call_.channel(), call_.pe(), target_, call_.bytes());
  }
}

FetchingNbi::FetchingNbi(shmem_ctx_t ctx, const void* target, size_t bytes, int pe)
    : call_((start_for_fetch(), ctx), DirectCall::Kind::update, target, bytes, pe) {
  if (call_.channel() == nullptr) return;
  call_.channel()->tallies.accumulates += 1;
  if (acquiring()) call_.channel()->fetches_outstanding();
}
FetchingNbi::~FetchingNbi() { model_post(call_.channel(), call_.pe(), call_.bytes()); }

PutSignal::PutSignal(shmem_ctx_t ctx, const void* to, size_t bytes, const void* signal, int pe)
    : call_(ctx, DirectCall::Kind::update, to, bytes, pe) {
  Channel* channel = call_.channel();
  if (channel == nullptr && (channel = context.find(ctx)) == nullptr) return;
  call_.hold(channel);  // without data it is not held, but the signal is sent all the same
  count_put(channel, bytes);
  if (!context.memory.valid_pe(channel->world_pe(pe))) return;
  before_update(channel, pe, bits_of(signal), sizeof(uint64_t));
  PageCache* cache = channel->ready_cache();
  if (cache != nullptr) cache->not_issued_yet(pe, bits_of(to), bytes);
}
PutSignal::~PutSignal() { model_post(call_.channel(), call_.pe(), call_.bytes()); }

}  // namespace nearcache::shmem
