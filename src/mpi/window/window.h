// One window: its mode, what of it is outstanding, its cache, and the rules that say when which may be used.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "cache/get/cost_model.h"
#include "cache/get/get_cache.h"
#include "base/copy.h"
#include "base/options.h"
#include "telemetry/stats.h"
#include "telemetry/trace_format.h"
#include "mpi/process/context.h"
#include "mpi/mpi_api.h"
#include "mpi/window/pending.h"
#include "mpi/types/type_table.h"

namespace nearcache::mpi {

// Locks in programs with MPI_THREAD_MULTIPLE only: an uncontended lock would be a third of a hit.
// Never held while MPI is called for something that may wait.
class WindowLock {
 public:
  explicit WindowLock(std::mutex& mutex) : mutex_(context.threaded ? &mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~WindowLock() { unlock(); }
  WindowLock(const WindowLock&) = delete;
  WindowLock& operator=(const WindowLock&) = delete;
  void unlock() {
    if (mutex_ != nullptr) mutex_->unlock();
    mutex_ = nullptr;
  }

 private:
  std::mutex* mutex_;
};

// What is known of one target of a window.
struct Target {
  RecordPool<PendingGet>::List pending;  // in order of issue
  uint32_t writes_since = 0;  // number of the last own write before the outstanding ones; see writes_unknown
  uint8_t flags = 0;
};
inline constexpr uint32_t writes_unknown = UINT32_MAX;  // some are outstanding that no cache has recorded
inline constexpr uint8_t target_access = 1;    // an access epoch of this target alone is open (lock, start)
inline constexpr uint8_t target_gets = 2;      // gets that MPI does not know to be complete
inline constexpr uint8_t target_writes = 4;    // puts or accumulates, likewise
inline constexpr uint8_t target_far = 8;       // on another node
inline constexpr uint8_t target_listed = 16;   // in Window::touched_
inline constexpr uint8_t target_started = 32;  // in the group of MPI_Win_start

// A get, as the program asked for it; counts as MPI_Count.
struct GetCall {
  void* origin;
  MPI_Count origin_count;
  MPI_Datatype origin_type;
  int target;
  MPI_Aint displacement;
  MPI_Count target_count;
  MPI_Datatype target_type;
};

// What a get means to the cache.
struct Access {
  Elements origin;
  uint64_t bytes;
  Key key;
  uint64_t hash;           // 0: the call was not understood
  int64_t from, to;        // bytes of the target, for comparison with own writes
  bool contiguous_target;  // then the tail of a partial hit can be fetched
};

struct WindowIdentity {
  int64_t id = 0;          // agreed by all ranks of the window
  MPI_Win handle = MPI_WIN_NULL;
  int rank = 0, ranks = 1; // in the window's group
  int64_t unit = 1;        // displacement unit of all ranks, 0 if they differ
  std::vector<uint8_t> far; // by rank
};

class Window {
 public:
  // `obstacle` says why nothing may ever be cached (a dynamic window, ...); empty if all is well.
  Window(WindowIdentity identity, const Options& options, std::string obstacle);
  ~Window();

  MPI_Win handle() const { return handle_; }
  const WindowIdentity& identity() const { return identity_; }
  Mode mode() const { return options_.mode; }
  const Options& options() const { return options_; }
  const std::string& obstacle() const { return obstacle_; }
  bool caching() const { return caching_.load(std::memory_order_relaxed); }
  // A trace or the report's details want to know of every get; see observer.h.
  bool observed() const { return observed_; }
  std::mutex& mutex() { return mutex_; }

  // --- The calls below need the lock. ---

  void set_mode(Mode mode);
  // What MPI_Win_set_info may change: the mode at once; sizes and policy by starting with an empty cache.
  void set_options(const Options& options);
  void invalidate();
  void reset();
  void fill_counters(Counters* counters) const;

  // Epochs, as far as the program's calls were seen. A fence may open one; a lock or start after it says it did not.
  void open_epoch_of_all(bool open) {
    epoch_of_all_ = open;
    fence_epoch_ = false;
  }
  void open_fence_epoch(bool open) { fence_epoch_ = open; }
  void open_epoch(int target, bool open) {
    set_flag(target, target_access, open);
    fence_epoch_ = false;
  }
  void start_epoch(const std::vector<int>& targets);
  void complete_epoch();
  bool epoch_is_open(const Target& target) const {
    return epoch_of_all_ || fence_epoch_ || (target.flags & (target_access | target_started)) != 0;
  }

  bool valid_target(int target) const { return target >= 0 && target < identity_.ranks; }
  Target& target(int rank) { return targets_[static_cast<size_t>(rank)]; }

  // Notes that MPI has something of this target to complete.
  void outstanding(int target, uint8_t what) {
    if (!valid_target(target)) return;
    Target& at = this->target(target);
    if ((at.flags & target_listed) == 0) list(target);
    at.flags |= what;
  }
  // The same while nothing is cached, so that the mode may be switched on in the middle of an epoch. Without the lock.
  void outstanding_uncached(int target, uint8_t what) {
    if (context.threaded) {
      unknown_outstanding_.store(true, std::memory_order_relaxed);
    } else if (valid_target(target)) {
      outstanding(target, what);
      this->target(target).writes_since = writes_unknown;
    }
  }

  // A flush of `target` (or all) would complete nothing, and is no error: a passive epoch is known to be open.
  bool may_serve_flush(int target) const {
    if (syncs_under_way_ != 0 || !context.progress.available()) return false;
    if (target == all_targets) return epoch_of_all_ && touched_.empty();
    if (static_cast<size_t>(target) >= targets_.size()) return false;
    const Target& at = targets_[static_cast<size_t>(target)];
    return (epoch_of_all_ || (at.flags & target_access) != 0) && (at.flags & (target_gets | target_writes)) == 0;
  }

  static constexpr int all_targets = -1;

  void flush_served() { ++syncs_served_; }
  // Lets MPI make progress while it is not called for anything else. Takes the lock itself.
  void call_for_progress();
  // The shortest way to know that a flush of `target` may be served.
  bool serves_plain_flush(int target) const {
    return plain_ && epoch_of_all_ && quiet_ && static_cast<uint32_t>(target) < rank_count_;
  }

  // --- Gets (window_get.cpp). ---

  enum class Answer : uint8_t {
    pass,    // not for the cache: issue the get as it is
    served,  // done, or will be when the epoch's gets are
    tail,    // the head is done: fetch the rest with a get of its own
    miss     // issue the get, then call `issued`
  };
  struct Decision {
    Answer answer;
    Access access;
    uint64_t head = 0;         // tail: bytes that the cache has
    EntryId entry = no_entry;  // tail: of the head, if it may grow
    bool sampled = false;      // measure the get
    uint32_t generation = 0;   // of the cache, and own writes, when it was decided: both must still hold when
    uint32_t write_seq = 0;    // the get has been issued, or another thread came between
  };
  // `request`: the get is an Rget, which must not depend on another get's completion.
  Decision decide(const GetCall& call, bool request);
  // Serves a get that is a plain hit: predefined contiguous types, cached, valid. False leaves it to `decide`.
  bool serve_plain_hit(const GetCall& call);
  // A get of a window that is not cached, which a trace wants all the same. Its answer is `pass`.
  Decision observe_uncached(const GetCall& call, bool may_sample);
  // The get of a miss or a tail has been issued. Returns its record, no_record if nothing is to be kept.
  uint32_t issued(const GetCall& call, const Decision& decision);

  // A passed get has been issued.
  void passed(const GetCall& call, const Decision& decision) {
    outstanding(call.target, target_gets);
    join_sample(call.target, decision);
  }

  void sample_issued(int target, uint64_t bytes, uint64_t ticks);

  // --- Synchronisation (window_sync.cpp). ---

  // What MPI is about to complete; taken before it is called.
  struct Completion {
    int target;            // or all_targets
    uint64_t up_to;        // serial of the last get that had been issued by then
    uint64_t started = 0;  // of the sampled synchronisation, in ticks; 0: not sampled
  };
  // `local`: puts and accumulates complete at the origin only.
  Completion begin_sync(int target, bool local);
  void end_sync(Completion completion, bool succeeded);
  // The short way, without other threads, where no get waits to be stored and none is being measured.
  bool nothing_to_complete() const {
    return pending_of_all_.first == no_record && sample_.target < 0 && syncs_under_way_ == 0;
  }
  void synced(int target, bool local) {
    clear_outstanding(target, local);
    update_quiet();
    ++counters_.syncs_passed;
  }

  // The get of a record that a request belongs to has arrived.
  void request_completed(uint32_t record, uint64_t serial);
  uint64_t serial_of(uint32_t record) { return pending_[record].serial; }

  // --- Own writes. ---
  void write(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type);
  void write_unknown(int target);  // anywhere at the target
  // Tells the trace.
  void observe_write(TraceWrite kind, int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type);
  void observe_sync(TraceSync kind, int target) { context.observer.sync(identity_.id, kind, target); }

  // The flush that follows a plain hit.
  void tell_plain_flush(int target);

  Counters& counters() { return counters_; }
  bool serves_plain_hits() const { return plain_; }

 private:
  // Set up for the first time: nothing can be outstanding yet.
  void adopt_mode(Mode mode);
  bool learn_plain_type(MPI_Datatype type);
  void update_quiet() { quiet_ = touched_.empty() && syncs_under_way_ == 0; }
  bool ensure_cache();
  void drop_cache();
  void update_generation() {
    if (options_.mode == Mode::transparent) cache_->set_generation(context.acquires.load(std::memory_order_relaxed));
  }
  void list(int target);
  void clear_outstanding(int target, bool local);
  void write_range(int target, int64_t from, int64_t to);
  // The bytes that a write touches; false where only MPI knows. An empty range if it touches none.
  bool range_of(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int64_t* from, int64_t* to) const;
  void set_flag(int target, uint8_t flag, bool on);

  bool understand(const GetCall& call, Access* access) const;
  bool bypassed(const Target& target, const Access& access);
  Decision pass(const Access& access);
  void missed(const Access& access, TraceOutcome outcome);
  void observe(TraceOutcome outcome, const Access& access, uint64_t from_cache) {
    if (observed_ && access.hash != 0) [[unlikely]] tell(outcome, access, from_cache);
  }
  void tell(TraceOutcome outcome, const Access& access, uint64_t from_cache);
  void tell_plain_hit(const Key& key, uint64_t hash, uint64_t bytes);
  void tell_levels();
  Decision serve(const GetCall& call, const Access& access, EntryId entry);
  Decision join(const GetCall& call, const Access& access, const GetCache::Lookup& found);
  Decision partial(const GetCall& call, const Access& access, const GetCache::Lookup& found);
  Decision miss(const Target& target, const Access& access);
  uint64_t usable_head(const Access& access, uint64_t have) const;
  void add_waiter(uint32_t record, void* origin, const Elements& elements, uint64_t bytes);
  EntryId find_room(const Decision& decision, uint32_t record);
  uint32_t add_record(const GetCall& call, const Decision& decision);
  bool overlaps_outstanding_write(const Access& access);
  double copy_ns(uint64_t bytes) const { return 50 + 0.15 * static_cast<double>(bytes); }
  bool storage_is_used() const { return options_.mode != Mode::transparent; }

  void complete(uint32_t record, bool succeeded);
  void release(uint32_t record);
  void serve_waiters(PendingGet* get, const std::byte* packed, bool succeeded);
  void maybe_adapt();

  void end_sample(const Completion& completion);
  // Gets that are completed along with a sampled one share the cost of its synchronisation.
  void join_sample(int target, const Decision& decision) {
    if (decision.sampled || sample_.target != target) return;
    sample_.bytes += decision.access.bytes;
    ++sample_.gets;
  }
  bool sample_is_due(const Target& target);
  void judge_class(bool far, uint64_t bytes);
  bool dormant();

  // What a hit reads and writes lies together, in two cache lines.
  alignas(64) GetCache* cache_ = nullptr;
  MPI_Win handle_ = MPI_WIN_NULL;
  int64_t plain_unit_ = 1;       // identity_.unit
  MPI_Datatype plain_type_{};    // the last predefined contiguous type, and its size; 0: none yet
  uint32_t plain_type_size_ = 0;
  uint32_t rank_count_ = 0;      // of targets_
  bool plain_ = false;           // plain hits may be served: mode always or user, unit known, no other threads
  bool epoch_of_all_ = false;    // lock_all
  bool quiet_ = true;            // nothing is outstanding at any target
  const bool observed_ = context.observer.wanted();
  std::atomic<bool> caching_{false};
  std::atomic<bool> unknown_outstanding_{false};
  bool fence_epoch_ = false;
  uint64_t plain_hits_ = 0;      // gets served by serve_plain_hit; not in counters_ yet
  uint64_t plain_bytes_ = 0;
  uint64_t syncs_served_ = 0;
  std::vector<Target> targets_;
  uint32_t syncs_under_way_ = 0;
  std::vector<uint32_t> touched_;  // targets with something outstanding

  WindowIdentity identity_;
  Options options_;
  std::string obstacle_;
  std::mutex mutex_;
  std::vector<uint32_t> started_;
  Region region_;
  RecordPool<PendingGet> pending_;
  RecordPool<Waiter> waiters_;
  std::vector<std::byte> scratch_;
  RecordPool<PendingGet>::List pending_of_all_;
  uint64_t serials_ = 0;
  Counters counters_;
  uint64_t evictions_before_ = 0;   // of caches that were dropped
  uint64_t write_drops_before_ = 0;

  // Sampling of what gets cost (window_sample.cpp): near and far targets apart.
  struct Sample {
    int target = -1;
    uint64_t bytes = 0, gets = 0, ticks = 0;
  };
  CostModel costs_[2];
  uint64_t cheap_sizes_[2] = {0, 0};  // bit per power of two: gets so cheap that caching cannot gain
  Sample sample_;
  uint32_t until_sample_ = 1;
  uint32_t passed_until_look_ = 1 << 16;
  ProfileLevels levels_told_;
  uint32_t samples_taken_ = 0;

  // Mode transparent: gets looked at in this span, gets let pass until the next, and hits when the span began.
  uint32_t awake_gets_ = 0, awake_span_ = 1024, dormant_gets_ = 0;
  uint64_t hits_then_ = 0;
};

// The window of a handle, for hot paths: a program mostly goes on with the one it used last.
inline Window* find_window(MPI_Win handle) {
  Window* last = context.last_window;
  if (last != nullptr && last->handle() == handle) return last;
  Window* window = context.windows.find(handle);
  if (!context.threaded) context.last_window = window;
  return window;
}

[[gnu::always_inline]] inline bool Window::serve_plain_hit(const GetCall& call) {
  if (static_cast<uint32_t>(call.target) >= rank_count_ || cache_ == nullptr) return false;
  if (call.origin_type != call.target_type || call.origin_count != call.target_count || call.origin_count <= 0) return false;
  if (call.origin_type != plain_type_ && !learn_plain_type(call.origin_type)) return false;
  if (!epoch_of_all_ && !epoch_is_open(targets_[static_cast<size_t>(call.target)])) return false;
  Key key;
  if (__builtin_mul_overflow(static_cast<int64_t>(call.displacement), plain_unit_, &key.displacement)) return false;
  key.target = static_cast<uint32_t>(call.target);
  const uint64_t bytes = plain_type_size_ * static_cast<uint64_t>(call.origin_count);
  const uint64_t hash = hash_key(key);
  const std::byte* data = cache_->hit(hash, key, bytes);
  if (data == nullptr) return false;
  ++plain_hits_;
  plain_bytes_ += bytes;
  if (bytes == sizeof(uint64_t)) {  // the commonest get of all: no call
    std::memcpy(call.origin, data, sizeof(uint64_t));
  } else {
    copy_bytes(call.origin, data, bytes);
  }
  if (observed_) [[unlikely]] tell_plain_hit(key, hash, bytes);
  return true;
}

}  // namespace nearcache::mpi
