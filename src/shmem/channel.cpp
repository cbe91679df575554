// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/channel.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "shmem/context.h"
#include "shmem/next.h"

namespace nearcache::shmem {

namespace {

uint64_t ns_since(uint64_t ticks) {
  return static_cast<uint64_t>(ticks_to_ns(clock_ticks() - ticks));
}

}  // namespace

// A value that no handle has: the address of an object of ours.
uint64_t Channel::no_bits() {
  static const char object = 0;
  return reinterpret_cast<uint64_t>(&object);
}

void Channel::open(shmem_ctx_t handle, int64_t id, bool owned, bool serialised, ChannelTeam team) {
  const ChannelLock lock(this);
  handle_ = handle;
  id_ = id;
  is_default_ = this == &context.default_channel;
  owned_ = owned;
  serialised_ = serialised || owned;
  owner_ = std::this_thread::get_id();
  team_ = std::move(team);
  state_ = context.caching ? State::untried : State::none;
  obstacle_ = nullptr;
  seen_orderings_ = shared.orderings.load();
  seen_acquires_ = context.acquires.load();
  puts_at_quiet_ = puts_timed_ = 0;
  wrote_directly_ = fetches_outstanding_ = false;
  last_get_pe_ = -1;
  around_ = {};
  get_time_ = put_time_ = TypicalTime();
  tallies = Tallies();
  profiled = {};
  context.observer.opened(*this);
  bits_.store(handle_bits(handle), std::memory_order_release);
}

void Channel::close() {
  context.observer.closed(*this);
  bits_.store(no_bits(), std::memory_order_release);
  give_cache_back();
}

void Channel::leave_uncached() {
  if (state_ == State::ready) complete();
  give_cache_back();
}

void Channel::give_cache_back() {
  context.profile.closing(this);
  if (state_ == State::ready) {
    if (quick_cache == &*pages_) quick_cache = no_cache();
    if (is_shared()) {
      shared.cache.store(nullptr, std::memory_order_release);
      // its memory stays, as threads may be reading it
    } else {
      pages_.reset();
      context.budget.give_back(memory_);
    }
  }
  state_ = State::none;
}

PageCache* Channel::create_cache() {
  state_ = State::none;
  if (nothing_cached) {  // not written by threads that make caches at once
    nothing_cached = false;
    near_heap.close();
  }
  PageCacheOptions options = context.cache_options;
  options.unlocked_hits = is_default_ && context.threaded && !context.watched();
  memory_ = PageCache::memory_bytes(options);
  if (!context.budget.take(memory_)) {
    obstacle_ = "no memory for a cache within max_storage";
    log(LogLevel::warning, "a context is not cached: %s", obstacle_);
    return nullptr;
  }
  pages_.emplace();
  if (!pages_->create(options, this)) {
    pages_.reset();
    context.budget.give_back(memory_);
    obstacle_ = "the system refused memory for a cache";
    log(LogLevel::warning, "a context is not cached: %s", obstacle_);
    return nullptr;
  }
  // a cache knows of accesses that bypass it, but not of those from before it existed
  if (wrote_directly_) quiet();
  pages_->flag_may_follow();  // nor of ordering calls from then
  state_ = State::ready;
  if (options.unlocked_hits) shared.cache.store(&*pages_, std::memory_order_release);
  if (is_default_ && !context.threaded && !context.watched()) quick_cache = &*pages_;
  return &*pages_;
}

void Channel::catch_up() {
  const uint64_t orderings = shared.orderings.load(std::memory_order_acquire);
  if (seen_orderings_ == orderings) return;
  seen_orderings_ = orderings;
  if (state_ == State::ready) pages_->flag_may_follow();
  const uint64_t acquires = context.acquires.load(std::memory_order_acquire);
  if (seen_acquires_ != acquires) {
    seen_acquires_ = acquires;
    if (state_ == State::ready) pages_->acquire();
    context.profile.caught_up(this);
  }
  // from here on hits are possible again
  if (is_default_) shared.seen.store(orderings, std::memory_order_release);
}

bool Channel::wrote() const {
  return wrote_directly_ || (state_ == State::ready && pages_->counters().puts != puts_at_quiet_);
}

void Channel::complete() {
  const bool wrote_before = wrote();
  PageCache* cache = ready_cache();
  const uint64_t made_before = tallies.quiets_made;
  if (cache != nullptr) cache->release();
  if (tallies.quiets_made == made_before) {  // the program's own transfers may be in flight
    const uint64_t begin = clock_ticks();
    {
      const Inside inside_library;
      is_default_ ? next.quiet() : next.ctx_quiet(handle_);
    }
    if (wrote_before) context.observer.cost(TraceCost::quiet, 0, ns_since(begin));
  }
  if (cache != nullptr) puts_at_quiet_ = cache->counters().puts;
  wrote_directly_ = false;
  if (wrote_before) context.acquire_others(&seen_acquires_);
  if (fetches_outstanding_) {
    fetches_outstanding_ = false;
    context.acquire();
  }
}

// True within one line before or after: a program that walks through memory by small gets gains
// more from whole lines than from overlapping its gets.
bool Channel::follows_last_get(int pe, uint64_t address, size_t bytes) {
  const uint64_t line = context.cache_options.line;
  const bool follows = pe == last_get_pe_ && address + bytes + line >= last_get_end_ &&
                       address <= last_get_end_ + line;
  last_get_pe_ = pe;
  last_get_end_ = address + bytes;
  return follows;
}

void Channel::get(void* to, uint64_t address, size_t bytes, int pe) {
  context.profile.fetching(address, bytes);
  const uint64_t begin = clock_ticks();
  get_plainly(to, address, bytes, pe);
  const uint64_t ns = ns_since(begin);
  tallies.get_ns += ns;
  context.observer.cost(TraceCost::get, bytes, ns);
  get_time_.add(ns);
}

void Channel::get_plainly(void* to, uint64_t address, size_t bytes, int pe) {
  const Inside inside_library;
  const auto* from = reinterpret_cast<const void*>(address);
  is_default_ ? next.getmem(to, from, bytes, pe) : next.ctx_getmem(handle_, to, from, bytes, pe);
}

void Channel::get_nbi(void* to, uint64_t address, size_t bytes, int pe) {
  context.profile.fetching(address, bytes);
  get_nbi_plainly(to, address, bytes, pe);
}

void Channel::get_nbi_plainly(void* to, uint64_t address, size_t bytes, int pe) {
  const Inside inside_library;
  const auto* from = reinterpret_cast<const void*>(address);
  is_default_ ? next.getmem_nbi(to, from, bytes, pe)
              : next.ctx_getmem_nbi(handle_, to, from, bytes, pe);
}

void Channel::put_plainly(uint64_t address, const void* from, size_t bytes, int pe) {
  const Inside inside_library;
  auto* to = reinterpret_cast<void*>(address);
  is_default_ ? next.putmem(to, from, bytes, pe) : next.ctx_putmem(handle_, to, from, bytes, pe);
}

void Channel::put(uint64_t address, const void* from, size_t bytes, int pe) {
  context.profile.writing_back(address, bytes);
  constexpr uint64_t all_timed = 64, every = 32;
  const uint64_t n = puts_timed_++;
  if (n >= all_timed && n % every != 0) return put_plainly(address, from, bytes, pe);
  const uint64_t begin = clock_ticks();
  put_plainly(address, from, bytes, pe);
  const uint64_t ns = ns_since(begin);
  put_time_.add(ns);
  context.observer.cost(TraceCost::put, bytes, ns);
}

void Channel::put_nbi(uint64_t address, const void* from, size_t bytes, int pe) {
  const Inside inside_library;
  auto* to = reinterpret_cast<void*>(address);
  is_default_ ? next.putmem_nbi(to, from, bytes, pe)
              : next.ctx_putmem_nbi(handle_, to, from, bytes, pe);
}

void Channel::fence() {
  const Inside inside_library;
  is_default_ ? next.fence() : next.ctx_fence(handle_);
}

void Channel::quiet() {
  const Inside inside_library;
  is_default_ ? next.quiet() : next.ctx_quiet(handle_);
  tallies.quiets_made += 1;
}

Extent Channel::extent(uint64_t address, size_t bytes, int) {
  if (address >= around_.begin && address < around_.end && bytes <= around_.end - address)
    return around_;
  return context.memory.resolve(address, bytes).cacheable;
}

bool Channel::may_cache(uint64_t address, size_t bytes) {
  return !context.memory.uncached(address, bytes);
}

void Channel::answered(int pe, uint64_t address, size_t bytes, bool from_cache) {
  context.profile.answered(this, pe, address, bytes, from_cache);
}

Profiled Channel::progress() const {
  Profiled now;
  now.bypassed = tallies.gets;
  if (state_ != State::ready) return now;
  if (is_shared()) pages_->count(page_reader);  // this thread's hits; others count their own here
  const PageCacheCounters& p = pages_->counters();
  now.hits = p.hits;
  now.misses = p.gets - p.hits;
  now.acquires = p.acquires;
  now.dropped_bytes = p.dropped_bytes;
  now.levels.storage_bytes = context.cache_options.size;
  now.levels.stored_bytes = pages_->valid_bytes();
  return now;
}

// The time saved by a hit or a joined put is the typical time of a transfer in this run
// (typical_time.h), less 15 ns.
void Channel::fill_counters(Counters* c) const {
  c->bypassed = tallies.gets;
  c->bytes_requested = c->bytes_from_network = tallies.get_bytes;
  c->gets = tallies.gets;
  c->puts = c->puts_bypassed = tallies.puts;
  c->bytes_put = tallies.put_bytes;
  c->accumulates = tallies.accumulates;
  c->syncs_passed = tallies.quiets_passed;
  if (is_default_) {  // counts those of all contexts
    c->hits_checked = context.check.compared();
    c->hits_old = context.check.old();
    c->bypassed += near_heap.gets();
    c->gets += near_heap.gets();
    c->bytes_requested += near_heap.get_bytes();
    c->bytes_from_network += near_heap.get_bytes();
    c->puts += near_heap.puts();
    c->puts_bypassed += near_heap.puts();
    c->bytes_put += near_heap.put_bytes();
  }
  if (state_ != State::ready) return;
  if (is_shared()) pages_->count(page_reader);
  const PageCacheCounters& p = pages_->counters();
  c->gets += p.gets;
  c->hits_full = p.hits;
  c->direct = p.gets - p.hits;
  c->puts += p.puts;
  c->bytes_requested += p.get_bytes;
  c->bytes_from_cache = p.hit_bytes;
  c->bytes_from_network += p.network_get_bytes;
  c->bytes_put += p.put_bytes;
  c->network_gets = p.network_gets;
  c->network_puts = p.network_puts;
  c->bytes_to_network = p.network_put_bytes;
  c->order_quiets = p.quiets;
  c->order_fences = p.fences;
  c->readaheads = p.readaheads;
  c->prefetches = p.prefetches;
  c->prefetches_dropped = p.prefetches_dropped;
  c->lines_ahead = p.ahead_lines;
  c->lines_ahead_used = p.ahead_lines_used;
  c->evictions = p.evictions;
  c->invalidations = p.acquires;
  c->releases = p.releases;
  c->polls = p.polls;
  c->storage_bytes = context.cache_options.size;
  c->metadata_bytes = memory_ - std::min<size_t>(memory_, context.cache_options.size);
  constexpr uint64_t hit_ns = 15;
  const uint64_t get_ns = get_time_.ns(), put_ns = put_time_.ns();
  c->remote_ns = tallies.get_ns;
  if (get_ns > hit_ns) c->saved_ns = p.hits * (get_ns - hit_ns);
  if (put_ns > hit_ns && p.puts > p.network_puts)
    c->saved_ns += (p.puts - p.network_puts) * (put_ns - hit_ns);
}

ChannelLock::ChannelLock(Channel* channel)
    : channel_(channel), lock_(context.threaded ? &channel->mutex() : nullptr) {
  channel->catch_up();
}

}  // namespace nearcache::shmem
