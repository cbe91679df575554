// SPDX-License-Identifier: BSD-3-Clause

// An OpenSHMEM context as the cache sees it: its page cache, the transport below the cache, and the
// operations that are outstanding.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/racy.h"
#include "cache/page/page_cache.h"
#include "front/handle_bits.h"
#include "front/optional_lock.h"
#include "shmem/access_profile.h"
#include "shmem/hooks.h"
#include "shmem/shmem_api.h"
#include "shmem/typical_time.h"
#include "telemetry/stats.h"

namespace nearcache::shmem {

// Counters of the front end. With several threads an increment may get lost.
using Tally = Racy<uint64_t>;
struct Tallies {
  Tally gets, get_bytes, puts, put_bytes;  // those that bypassed the cache
  Tally accumulates;                       // strided puts and atomics
  Tally quiets_passed, quiets_made;  // the program's quiets and fences; those issued for the cache
  Tally get_ns;                      // total time of blocking gets issued for the cache
};

// The team that a context was created from: calls on the context number its PEs from 0. Without a
// team, PEs have their numbers in the world team.
struct ChannelTeam {
  bool exists = false;       // false: the context belongs to the world team
  uint64_t bits = 0;         // of the team's handle
  std::vector<int> members;  // number in the world of each PE of the team
  std::vector<int> numbers;  // number in the team of each PE of the world; -1: not a member

  // Both return -1 if there is no such PE.
  int world_pe(int pe) const {
    if (!exists) return pe;
    return pe >= 0 && static_cast<size_t>(pe) < members.size() ? members[static_cast<size_t>(pe)]
                                                               : -1;
  }
  int pe_of(int world_pe) const {
    return exists ? numbers[static_cast<size_t>(world_pe)] : world_pe;
  }
};

// Channels are never deleted but reused, so that another thread may safely look at one while its
// context is being destroyed.
//
// A channel numbers PEs as its context does, in its cache and in calls of the library. Where
// contexts interact, or memory is concerned, world_pe() translates.
class Channel final : public PageTransport {
 public:
  // Starts serving a new context. `owned`: it is private to the calling thread. `serialised`: at
  // most one thread at a time may use it.
  void open(shmem_ctx_t handle, int64_t id, bool owned, bool serialised, ChannelTeam team = {});
  // The context is destroyed and complete: gives the memory back. Called with the lock held.
  void close();

  bool is(uint64_t bits) const { return bits_.load(std::memory_order_acquire) == bits; }
  bool is_open() const { return bits_.load(std::memory_order_acquire) != no_bits(); }
  shmem_ctx_t handle() const { return handle_; }
  int64_t id() const { return id_; }
  // True for another thread's private context, on which this thread may issue nothing.
  bool foreign() const { return owned_ && owner_ != std::this_thread::get_id(); }
  bool owned() const { return owned_; }
  bool serialised() const { return serialised_; }
  int world_pe(int pe) const { return team_.world_pe(pe); }
  // pre: world_pe is a PE. Returns -1 if this context does not reach it.
  int pe_of(int world_pe) const { return team_.pe_of(world_pe); }
  bool is_of_team(uint64_t team_bits) const { return team_.exists && team_.bits == team_bits; }
  // Why there is no cache; null if there is one, or may still be one.
  const char* obstacle() const { return obstacle_; }

  std::mutex& mutex() { return mutex_; }

  // The cache, created at its first use; null if there is none. Called with the lock held.
  PageCache* cache() {
    if (state_ == State::ready) [[likely]]
      return &*pages_;
    return state_ == State::untried ? create_cache() : nullptr;
  }
  // The cache if it has been created already, else null.
  PageCache* ready_cache() { return state_ == State::ready ? &*pages_ : nullptr; }
  // True if the cache exists and threads read it without the lock.
  bool is_shared() const {
    return state_ == State::ready && shared.cache.load(std::memory_order_relaxed) == &*pages_;
  }
  // Stops caching. Everything written is complete.
  void leave_uncached();

  // Catches up with the process's ordering calls since the last look: drops what acquires made
  // stale, and expects a flag to be written next.
  void catch_up();

  // Waits until everything written through this context has reached its target.
  void complete();
  // Starts writing dirty pages back.
  void start_write_back() {
    if (state_ == State::ready && pages_->dirty()) pages_->start_write_back();
  }
  // The program has written without the cache.
  void wrote_directly() { wrote_directly_ = true; }
  // True if something was written since the last quiet, except where loads and stores reach.
  bool wrote() const;
  // A fetch is outstanding, whose value the program sees only after the next quiet.
  void fetches_outstanding() { fetches_outstanding_ = true; }
  // True if a non-blocking get continues where the previous one ended.
  bool follows_last_get(int pe, uint64_t address, size_t bytes);
  // Tells what surrounds the next access, so that it is looked up only once; empty: look it up.
  void surrounded_by(const Extent& around) { around_ = around; }

  Tallies tallies;
  Profiled profiled;
  // The counters that the profile compares with `profiled`.
  Profiled progress() const;
  void fill_counters(Counters* counters) const;

  // PageTransport
  void get(void* to, uint64_t address, size_t bytes, int pe) override;
  void get_nbi(void* to, uint64_t address, size_t bytes, int pe) override;
  void get_nbi_plainly(void* to, uint64_t address, size_t bytes, int pe);
  void put(uint64_t address, const void* from, size_t bytes, int pe) override;
  // put() without timing it
  void put_plainly(uint64_t address, const void* from, size_t bytes, int pe);
  void get_plainly(void* to, uint64_t address, size_t bytes, int pe);  // get() likewise
  void put_nbi(uint64_t address, const void* from, size_t bytes, int pe);
  void fence() override;
  void quiet() override;
  Extent extent(uint64_t address, size_t bytes, int pe) override;
  bool may_cache(uint64_t address, size_t bytes) override;
  void answered(int pe, uint64_t address, size_t bytes, bool from_cache) override;

 private:
  enum class State : uint8_t { untried, ready, none };

  static uint64_t no_bits();
  PageCache* create_cache();
  void give_cache_back();

  std::atomic<uint64_t> bits_{no_bits()};
  shmem_ctx_t handle_{};
  int64_t id_ = 0;
  bool is_default_ = false, owned_ = false, serialised_ = false;
  std::thread::id owner_;
  ChannelTeam team_;
  State state_ = State::untried;
  const char* obstacle_ = nullptr;
  std::mutex mutex_;
  std::optional<PageCache> pages_;
  size_t memory_ = 0;  // bytes taken from the budget
  uint64_t seen_orderings_ = 0, seen_acquires_ = 0;
  uint64_t puts_at_quiet_ = 0;  // the cache's count at the last quiet
  uint64_t puts_timed_ = 0;
  bool wrote_directly_ = false;  // since the last quiet
  bool fetches_outstanding_ = false;
  int last_get_pe_ = -1;
  uint64_t last_get_end_ = 0;
  Extent around_;
  TypicalTime get_time_, put_time_;  // the cache's own transfers; only some puts are timed
};

// Holds a channel's lock if the program is multi-threaded.
class ChannelLock {
 public:
  explicit ChannelLock(Channel* channel);
  // Leaves the channel locked and returns it; null if it was not locked.
  Channel* release() { return lock_.release() ? channel_ : nullptr; }

 private:
  Channel* channel_;
  OptionalLock lock_;
};

}  // namespace nearcache::shmem
