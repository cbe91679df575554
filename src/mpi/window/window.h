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
#include "front/epochs.h"
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

  // Epochs, as far as the program's calls were seen, and what is outstanding.
  Epochs& epochs() { return epochs_; }
  // The target of a call, by the rank that the program gave: none for MPI_PROC_NULL and ranks outside of the group.
  Targets targets(int rank) const { return Targets::named(rank, epochs_.ranks()); }
  bool valid_target(int rank) const { return targets(rank).is_one(); }

  // Something is issued while nothing is cached: noted, so that the mode may be switched on in the middle of an epoch. Without the lock.
  void get_issued_uncached(int target) {
    if (context.threaded) {
      unknown_outstanding_.store(true, std::memory_order_relaxed);
    } else if (valid_target(target)) {
      epochs_.get_issued(static_cast<uint32_t>(target));
    }
  }
  void write_issued_uncached(int target) {
    if (context.threaded) {
      unknown_outstanding_.store(true, std::memory_order_relaxed);
    } else if (valid_target(target)) {
      epochs_.write_begins(static_cast<uint32_t>(target), Epochs::no_mark);
      epochs_.write_issued(static_cast<uint32_t>(target));
    }
  }

  // A flush would complete nothing, and is no error: a passive epoch is known to be open.
  bool may_serve_flush(Targets targets) const { return context.progress.available() && epochs_.flush_is_empty(targets); }

  void flush_served() { ++syncs_served_; }
  // Lets MPI make progress while it is not called for anything else. Takes the lock itself.
  void call_for_progress();
  // The shortest way to know that a flush of `target` may be served.
  bool serves_plain_flush(int target) const {
    return plain_ && epochs_.open_for_all() && epochs_.quiet() && static_cast<uint32_t>(target) < epochs_.ranks();
  }

  // --- Gets (get.cpp). ---

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
    uint32_t record = no_record, waiter = no_record;  // tail: of the get that its head goes along with
    uint64_t serial = 0;                              // of that get
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
  void passed(const GetCall& call, const Decision& decision);
  // The get of a tail was refused: what went along for its head must not be written to.
  void tail_refused(const Decision& decision);

  void sample_issued(int target, uint64_t bytes, uint64_t ticks);

  // --- Synchronisation (sync.cpp). ---

  // What MPI is about to complete; taken before it is called.
  struct Completion {
    Epochs::Sync sync;
    uint64_t up_to;        // serial of the last get that had been issued by then
    uint64_t started = 0;  // of the sampled synchronisation, in ticks; 0: not sampled
  };
  // `local`: puts and accumulates complete at the origin only.
  Completion begin_sync(Targets targets, bool local);
  // If it failed nothing is complete: what was outstanding is, gets that wait for their data go on waiting.
  void end_sync(const Completion& completion, bool succeeded);
  // The short way, without other threads, where no get waits to be stored and none is being measured.
  bool nothing_to_complete() const {
    return pending_of_all_.first == no_record && sample_.target < 0 && !epochs_.under_way();
  }
  void synced(Targets targets, bool local, bool succeeded) {
    epochs_.end(epochs_.begin(targets, local, Epochs::no_mark), succeeded);
    ++counters_.syncs_passed;
  }

  // The get of a record that a request belongs to has arrived, or has failed.
  void request_completed(uint32_t record, uint64_t serial, bool succeeded);
  uint64_t serial_of(uint32_t record) { return pending_[record].serial; }
  void belongs_to_request(uint32_t record) { pending_[record].of_request = true; }

  // --- Own writes. ---
  // Before it is issued, and after.
  void write_begins(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type);
  void write_issued(int target) {
    if (valid_target(target)) epochs_.write_issued(static_cast<uint32_t>(target));
  }
  // Tells the trace.
  void observe_write(TraceWrite kind, int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type);
  void observe_sync(TraceSync kind, Targets targets);

  static constexpr MPI_Count plain_count_limit = INT32_MAX;

  // The flush that follows a plain hit.
  void tell_plain_flush(int target);

  // What the short ways rely on is no more: one thread, progress between served calls, memory of the processor's own.
  void leave_short_ways() { plain_ = false; }

  Counters& counters() { return counters_; }
  bool serves_plain_hits() const { return plain_; }

 private:
  // Set up for the first time: nothing can be outstanding yet.
  void adopt_mode(Mode mode);
  bool learn_plain_type(MPI_Datatype type);
  bool is_far(uint32_t target) const { return target < identity_.far.size() && identity_.far[target] != 0; }
  bool ensure_cache();
  void drop_cache();
  void update_generation() {
    if (options_.mode == Mode::transparent) cache_->set_generation(context.acquires.load(std::memory_order_relaxed));
  }
  void write_range(uint32_t target, int64_t from, int64_t to);
  // The bytes that a write touches; false where only MPI knows. An empty range if it touches none.
  bool range_of(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int64_t* from, int64_t* to) const;

  bool understand(const GetCall& call, Access* access) const;
  static uint64_t bytes_of(const GetCall& call);
  bool bypassed(const Access& access);
  Decision pass(const Access& access);
  void served(const Access& access);
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
  Decision miss(const Access& access);
  uint64_t usable_head(const Access& access, uint64_t have) const;
  uint32_t add_waiter(uint32_t record, void* origin, const Elements& elements, uint64_t bytes);
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
  bool sample_is_due(uint32_t target);
  void judge_class(bool far, uint64_t bytes);
  bool dormant();

  // What a hit reads and writes lies together, in two cache lines.
  alignas(64) GetCache* cache_ = nullptr;
  MPI_Win handle_ = MPI_WIN_NULL;
  int64_t plain_unit_ = 1;       // identity_.unit
  MPI_Datatype plain_type_{};    // the last predefined contiguous type, and its size; 0: none yet
  uint32_t plain_type_size_ = 0;
  bool plain_ = false;           // plain hits may be served: mode always or user, unit known, no other threads
  const bool observed_ = context.observer.wanted();
  std::atomic<bool> caching_{false};
  std::atomic<bool> unknown_outstanding_{false};
  Epochs epochs_;
  uint64_t plain_hits_ = 0;      // gets served by serve_plain_hit; not in counters_ yet
  uint64_t plain_bytes_ = 0;
  uint64_t syncs_served_ = 0;

  WindowIdentity identity_;
  Options options_;
  std::string obstacle_;
  std::mutex mutex_;
  Region region_;
  RecordPool<PendingGet> pending_;
  std::vector<RecordPool<PendingGet>::List> pending_of_target_;
  RecordPool<Waiter> waiters_;
  std::vector<std::byte> scratch_;
  RecordPool<PendingGet>::List pending_of_all_;
  uint64_t serials_ = 0;
  Counters counters_;
  uint64_t evictions_before_ = 0;   // of caches that were dropped
  uint64_t write_drops_before_ = 0;

  // Sampling of what gets cost (sample.cpp): near and far targets apart.
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

  // Mode transparent, where nothing repeats: gets looked at in this span, gets let pass until the next, and hits when the span began.
  struct Dormancy {
    uint32_t awake_gets = 0, awake_span = 1024, dormant_gets = 0;
    uint64_t hits_then = 0;
  };
  Dormancy dormancy_;
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
  if (static_cast<uint32_t>(call.target) >= epochs_.ranks() || cache_ == nullptr) return false;
  if (call.origin_type != call.target_type || call.origin_count != call.target_count || call.origin_count <= 0) return false;
  if (call.origin_type != plain_type_ && !learn_plain_type(call.origin_type)) return false;
  if (!epochs_.open(static_cast<uint32_t>(call.target))) return false;
  Key key;
  if (__builtin_mul_overflow(static_cast<int64_t>(call.displacement), plain_unit_, &key.displacement)) return false;
  key.target = static_cast<uint32_t>(call.target);
  if (call.origin_count > plain_count_limit) return false;  // a large count: its bytes are computed with care elsewhere
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
