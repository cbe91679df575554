// An OpenSHMEM context as the cache sees it: the cache, the transport under it, and what is
// outstanding.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cache/page/page_cache.h"
#include "front/handle_bits.h"
#include "front/optional_lock.h"
#include "shmem/access_profile.h"
#include "shmem/hooks.h"
#include "shmem/shmem_api.h"
#include "shmem/typical_time.h"
#include "telemetry/stats.h"

namespace nearcache::shmem {

// Counted by the front end. Under threads a count may get lost; none is worth a locked instruction.
class Tally {
 public:
  Tally() = default;
  Tally(const Tally& other) : value_(other) {}
  Tally& operator=(uint64_t n) { return value_.store(n, std::memory_order_relaxed), *this; }
  Tally& operator=(const Tally& other) { return *this = static_cast<uint64_t>(other); }
  void operator+=(uint64_t n) { *this = *this + n; }
  operator uint64_t() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};
struct Tallies {
  Tally gets, get_bytes, puts, put_bytes;  // past the cache
  Tally accumulates;                       // strided puts and atomics
  Tally quiets_passed, quiets_made;  // the program's quiets and fences; those issued for the cache
  Tally get_ns;                      // blocking gets for the cache: all together
};

// The PEs of the team that a context was made of: calls on the context count them from 0. All are
// numbered as in the world where there is none.
struct ChannelTeam {
  bool exists = false;       // else it is the world
  uint64_t bits = 0;         // of the team's handle
  std::vector<int> members;  // the world's number of each PE of the team
  std::vector<int> numbers;  // the team's number of each PE of the world; -1: not in it

  // Both are -1 where there is no such PE.
  int world_pe(int pe) const {
    if (!exists) return pe;
    return pe >= 0 && static_cast<size_t>(pe) < members.size() ? members[static_cast<size_t>(pe)]
                                                               : -1;
  }
  int pe_of(int world_pe) const {
    return exists ? numbers[static_cast<size_t>(world_pe)] : world_pe;
  }
};

// Channels are never deleted, so that another thread may look at one while its context goes: they
// are used again.
//
// PEs are counted as the context does, in its cache and in what it asks of the library; world_pe()
// says who that is where contexts meet, or memory is concerned.
class Channel final : public PageTransport {
 public:
  // A context begins. `owned`: it is private to the calling thread. `serialised`: at most one
  // thread at a time may be inside of it.
  void open(shmem_ctx_t handle, int64_t id, bool owned, bool serialised, ChannelTeam team = {});
  // It is gone, and complete: gives the memory back. The lock is held.
  void close();

  bool is(uint64_t bits) const { return bits_.load(std::memory_order_acquire) == bits; }
  bool is_open() const { return bits_.load(std::memory_order_acquire) != no_bits(); }
  shmem_ctx_t handle() const { return handle_; }
  int64_t id() const { return id_; }
  // Another thread's private context: nothing may be issued on it.
  bool foreign() const { return owned_ && owner_ != std::this_thread::get_id(); }
  bool owned() const { return owned_; }
  bool serialised() const { return serialised_; }
  int world_pe(int pe) const { return team_.world_pe(pe); }
  // pre: world_pe is a PE. -1: this context does not reach it
  int pe_of(int world_pe) const { return team_.pe_of(world_pe); }
  bool is_of_team(uint64_t team_bits) const { return team_.exists && team_.bits == team_bits; }
  // why there is no cache; null if there is, or may be
  const char* obstacle() const { return obstacle_; }

  std::mutex& mutex() { return mutex_; }

  // The cache, made at its first use; null if there is none. With the lock.
  PageCache* cache() {
    if (state_ == State::ready) [[likely]]
      return &*pages_;
    return state_ == State::untried ? create_cache() : nullptr;
  }
  // The cache if it was made already.
  PageCache* ready_cache() { return state_ == State::ready ? &*pages_ : nullptr; }
  // Whether it is there, and threads read it without the lock.
  bool is_shared() const {
    return state_ == State::ready && shared.cache.load(std::memory_order_relaxed) == &*pages_;
  }
  // No cache from now on; what was written is complete.
  void leave_uncached();

  // Does what the process' calls that order since the last look ask for: drops what acquires made
  // stale, lets a flag follow.
  void catch_up();

  // Everything written through this context is at its target.
  void complete();
  // Starts it.
  void start_write_back() {
    if (state_ == State::ready && pages_->dirty()) pages_->start_write_back();
  }
  // The program writes past the cache.
  void wrote_directly() { wrote_directly_ = true; }
  // The program learns of a value at the next quiet only.
  void fetches_outstanding() { fetches_outstanding_ = true; }
  // A non-blocking get of the program continues where its last one was.
  bool follows_last_get(int pe, uint64_t address, size_t bytes);
  // What lies around the access that the cache is asked for next, so that it is looked up once;
  // empty: to be looked up.
  void surrounded_by(const Extent& around) { around_ = around; }

  Tallies tallies;
  Profiled profiled;
  // What there is to profile so far, without what is in `profiled` alone.
  Profiled progress() const;
  void fill_counters(Counters* counters) const;

  // PageTransport
  void get(void* to, uint64_t address, size_t bytes, int pe) override;
  void get_nbi(void* to, uint64_t address, size_t bytes, int pe) override;
  void get_nbi_plainly(void* to, uint64_t address, size_t bytes, int pe);
  void put(uint64_t address, const void* from, size_t bytes, int pe) override;
  // put() without its clock
  void put_plainly(uint64_t address, const void* from, size_t bytes, int pe);
  void get_plainly(void* to, uint64_t address, size_t bytes, int pe);  // get() likewise
  void put_nbi(uint64_t address, const void* from, size_t bytes, int pe);
  void fence() override;
  void quiet() override;
  Extent extent(uint64_t address, size_t bytes, int pe) override;
  void answered(int pe, uint64_t address, size_t bytes, bool from_cache) override;

 private:
  enum class State : uint8_t { untried, ready, none };

  static uint64_t no_bits();
  PageCache* create_cache();
  void give_cache_back();
  bool wrote() const;

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
  size_t memory_ = 0;  // taken from the budget
  uint64_t seen_orderings_ = 0, seen_acquires_ = 0;
  uint64_t puts_at_quiet_ = 0;  // the cache's count at the last quiet
  uint64_t puts_timed_ = 0;
  bool wrote_directly_ = false;  // since the last quiet
  bool fetches_outstanding_ = false;
  int last_get_pe_ = -1;
  uint64_t last_get_end_ = 0;
  Extent around_;
  TypicalTime get_time_, put_time_;  // of the cache's own transfers; not all puts are timed
};

// Holds a channel's lock where threads make it necessary.
class ChannelLock {
 public:
  explicit ChannelLock(Channel* channel);
  // Leaves it locked; null if it is not.
  Channel* release() { return lock_.release() ? channel_ : nullptr; }

 private:
  Channel* channel_;
  OptionalLock lock_;
};

}  // namespace nearcache::shmem
