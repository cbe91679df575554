// One MPI window: what its calls mean to its cache (cache/get/cached_window.h), which of its gets
// are measured or bypass the cache, and what is reported about them.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/copy.h"
#include "base/options.h"
#include "cache/get/cached_window.h"
#include "front/optional_lock.h"
#include "mpi/coherence/coherent_window.h"
#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/types/type_table.h"
#include "mpi/window/cost_sampling.h"
#include "mpi/window/deferred_locks.h"
#include "mpi/window/dormancy.h"
#include "mpi/window/get_call.h"
#include "mpi/window/pause.h"
#include "telemetry/report.h"
#include "telemetry/stats.h"
#include "telemetry/trace_format.h"

namespace nearcache::mpi {

// Locks in programs with MPI_THREAD_MULTIPLE only: an uncontended lock would be a third of a hit.
// Never held while MPI is called for something that may wait.
class WindowLock : public OptionalLock {
 public:
  explicit WindowLock(std::mutex& mutex) : OptionalLock(context.threaded ? &mutex : nullptr) {}
};

struct WindowIdentity {
  int64_t id = 0;  // agreed by all ranks of the window
  MPI_Win handle = MPI_WIN_NULL;
  int rank = 0, ranks = 1;  // in the window's group
  int64_t unit = 1;         // displacement unit of all ranks, 0 if they differ
  // displacements are addresses of attached memory: nothing is known of what lies around a get
  bool dynamic = false;
  bool overlaps = false;     // some rank's memory of it is another window's, too
  int64_t least_bytes = 0;   // of memory that each rank exposes at least; 0 where that is not known
  std::vector<uint8_t> far;  // by rank
};

class Window {
 public:
  // `obstacle` says why nothing may ever be cached (a shared-memory window, ...); empty if all is
  // well.
  Window(WindowIdentity identity, const Options& options, std::string obstacle);
  ~Window();  // of its memory alone

  // It has been freed: takes back all that it has elsewhere. Others may still ask for its counters.
  void retire();

  MPI_Win handle() const { return handle_; }
  const WindowIdentity& identity() const { return identity_; }
  // Its ranks; asked of MPI once. MPI_GROUP_NULL where that fails.
  MPI_Group group();
  Mode mode() const { return cached_.mode(); }
  const Options& options() const { return options_; }
  const std::string& obstacle() const { return obstacle_; }
  bool caching() const { return caching_.load(std::memory_order_relaxed); }
  // A trace or the report's details want to know of every get; see observer.h.
  bool observed() const { return observed_; }
  std::mutex& mutex() { return mutex_; }

  // A put or an accumulate of the program: the bytes of a target that it touches, perhaps none; all
  // where only MPI knows.
  struct Write {
    Targets target;
    int64_t from = INT64_MIN, to = INT64_MAX;
  };

  // --- The calls below need the lock. ---

  void set_mode(Mode mode);  // after confirm_served
  // Becomes user by the program's first invalidation, of whichever window, unless the program names
  // a mode before.
  void await_invalidate() { awaits_invalidate_ = true; }
  void mode_is_named() { awaits_invalidate_ = false; }
  void program_invalidates();
  // What MPI_Win_set_info may change: the mode at once; sizes and policy by starting with an empty
  // cache.
  void set_options(const Options& options);
  void invalidate();
  void reset();
  void fill_counters(Counters* counters) const;
  WindowReport report() const;

  // Epochs, as far as the program's calls were seen, and what is outstanding.
  Epochs& epochs() { return cached_.epochs(); }
  const Epochs& epochs() const { return cached_.epochs(); }
  // The target of a call, by the rank that the program gave: none for MPI_PROC_NULL and ranks
  // outside of the group.
  Targets targets(int rank) const { return Targets::named(rank, epochs().ranks()); }
  bool valid_target(int rank) const { return targets(rank).is_one(); }

  // Something is issued while nothing is cached: noted, so that the mode may be switched on in the
  // middle of an epoch. Without the lock.
  void get_issued_uncached(int target) {
    if (context.threaded) {
      unknown_outstanding_.store(true, std::memory_order_relaxed);
    } else if (valid_target(target)) {
      epochs().get_issued(static_cast<uint32_t>(target));
    }
  }
  void write_issued_uncached(int target) {
    if (context.threaded) {
      unknown_outstanding_.store(true, std::memory_order_relaxed);
    } else if (valid_target(target)) {
      epochs().write_begins(static_cast<uint32_t>(target), Epochs::no_mark);
      epochs().write_issued(static_cast<uint32_t>(target));
    }
  }

  // --- Shared locks that go down with the first operation that must (deferred_locks.h). None of
  // these with the lock held. ---

  bool may_defer_lock(int rank);
  void defer_lock(int rank, int assert);
  bool locks_deferred() const { return deferred_.any(); }
  DeferredLocks& deferred() { return deferred_; }
  // The program may load and store others' memory under a lock, which keeps others out, too.
  void defer_no_locks() { may_defer_locks_ = false; }
  int take_locks(Targets targets) { return deferred_.take(*this, targets); }
  int confirm_served(Targets targets) { return deferred_.confirm(*this, targets); }
  bool drop_lock(Targets target) { return target.is_one() && deferred_.drop(*this, target.rank()); }
  // Before this get may be served under such a lock: is there to be room for it, and may it be
  // issued later?
  void prepare_to_serve(const GetCall& call);

  // A fetching accumulate is outstanding: what it completes by may tell of others' writes.
  void fetch_begins() { fetching_ = true; }
  bool may_complete_fetches() const { return fetching_; }
  // Where calls are not noted it is not known which target has completed its own. With the lock.
  bool completes_fetches() {
    fetching_ = fetching_ && (pause_.on() || !epochs().quiet() || unknown_outstanding_);
    return fetching_;
  }

  // Own ones, of any target. With the lock.
  bool writes_may_be_outstanding() const {
    return pause_.on() ? wrote_unnoted_
                       : epochs().some_writes_outstanding() || unknown_outstanding_;
  }

  // A flush would complete nothing, and is no error: a passive epoch is known to be open.
  bool may_serve_flush(Targets targets) const {
    return context.progress.available() && !pause_.on() && epochs().flush_is_empty(targets);
  }

  void flush_served() { ++syncs_served_; }
  // Lets MPI make progress while it is not called for anything else. Takes the lock itself.
  void call_for_progress();
  // The shortest way to know that a flush of `target` may be served.
  bool serves_plain_flush(int target) const {
    return plain_ && epochs().open_for_all() && epochs().quiet() &&
           static_cast<uint32_t>(target) < epochs().ranks();
  }

  // One cache for the ranks of its node (sharing.h); null, and perhaps why it is none. Before the
  // first get.
  void share(std::unique_ptr<SharedCache> shared, const std::string& why_not) {
    cached_.share(std::move(shared));
    shares_ = cached_.shared() != nullptr;
    why_unshared_ = why_not;
  }
  bool shares() const { return shares_; }

  // --- Coherent mode (mpi/coherence). Null where the ranks could not agree on it. ---

  void become_coherent(Board* board, uint32_t slot, Regions regions, CoherentWindow::Memory memory);
  void end_coherence() { coherent_.reset(); }
  void is_not_coherent_as(const std::string& why) { why_incoherent_ = why; }
  // In mode coherent: why it acts as transparent, or why others keep nothing of this rank's memory.
  // Empty if all is well.
  std::string why_incoherent() const;
  CoherentWindow* coherent() { return coherent_.get(); }
  // What is fetched outlives acquires.
  bool keeps() const { return keeps_; }
  void keep_across_acquires(Regions regions) {
    keeps_ = true;
    wake();
    cached_.keep_across_acquires(regions);
  }
  void drop_at_acquires() {
    keeps_ = false;
    cached_.drop_at_acquires();
  }
  // A get of the target could not be answered before what this rank comes after is done; or, where
  // its lock was deferred, its like will be issued if it was not.
  bool certainly_open(uint32_t target) {
    return epochs().certainly_open(target) || deferred_.waits(target);
  }
  bool wants_validation(uint32_t target) { return cached_.wants_validation(target); }
  bool likely_needed(uint32_t target) const { return cached_.likely_needed(target); }
  uint32_t validated(uint32_t target, const VersionWords& words) {
    return cached_.validated(target, words);
  }
  const std::vector<uint32_t>& targets_of_versions() const { return cached_.versions()->targets(); }
  uint64_t kept() const { return cached_.versions()->kept(); }
  uint32_t barren_validations() const { return cached_.versions()->barren(); }
  // Readers are told, before a put or an accumulate is issued.
  void announce_write(const Write& write) {
    if (write.target.is_one()) coherent_->writes(write.target.rank(), write.from, write.to);
  }

  // --- What goes to MPI unnoted: everything of a window that pauses, and gets of the own rank, but
  // not with other threads, nor where somebody wants to know of every call. ---

  bool paused() const { return pause_.on(); }
  // This get may; then it is counted.
  bool get_passes(int target, MPI_Datatype type, MPI_Count count) {
    if (!pause_.on() && target != unnoted_rank_) return false;
    if (context.coherence.somebody_reads()) [[unlikely]]
      return false;
    if (pause_.takes(type, count)) return true;
    if (target != unnoted_rank_) return false;
    if (!pause_.on()) [[unlikely]]
      note_own_get();
    own_gets_ += caching() ? 1 : 0;
    return true;
  }
  // A get of a type that the short way does not know.
  bool pause_takes(const GetCall& call) {
    return pause_.on() &&
           pause_.takes(call.origin_type, size_of(call.origin_type), call.origin_count);
  }
  void write_passes() { wrote_unnoted_ = true; }
  // No call of this window means anything to any cache (mpi/rma/straight.h).
  bool may_be_passed_by() const {
    return paused() && !caching() && context.learns_nothing() &&
           context.coherence.nobody_ever_reads();
  }
  void flush_passed() { ++counters_.syncs_passed; }
  // The same of a lock that was deferred. Takes the lock itself.
  void sync_passes() {
    const WindowLock lock(mutex_);
    ++counters_.syncs_passed;
  }
  void count_write(TraceWrite kind) {
    ++(kind == TraceWrite::put ? counters_.puts : counters_.accumulates);
  }
  // A get has gone past the cache, or past a window that is not cached; a write has been issued, or
  // a get of the own rank. It is time to pause, perhaps.
  void maybe_pause(MPI_Datatype type, uint64_t bytes) {
    if (pause_.get_passed()) [[unlikely]]
      pause(type, bytes);
  }
  void maybe_pause_of_others() {
    if (pause_.other_passed() && !locks_deferred() && may_pause() && holds_nothing()) [[unlikely]]
      pause_of_others();
  }
  // The cache is asked again, or is another one.
  void wake();

  // --- Gets (get.cpp). ---

  using Answer = CachedWindow::Answer;
  struct Decision {
    CachedWindow::Decision cached;
    RemoteGet get{};       // its hash is 0 where the call was not understood
    bool sampled = false;  // measure the get
    Answer answer() const { return cached.answer; }
    bool fetches_line() const { return cached.line.bytes > 0; }
    // that are fetched, or go past
    uint64_t bytes() const { return fetches_line() ? cached.line.bytes : get.bytes; }
  };
  // `request`: the get is an Rget, which must not depend on another get's completion.
  Decision decide(const GetCall& call, bool request);
  // Serves a get that is a plain hit: predefined contiguous types, cached, valid. False leaves it
  // to `decide`, which goes on from what was found.
  bool serve_plain_hit(const GetCall& call);
  // The short way knows one datatype, the last one: this one from now on, if it is of the kind.
  // False if it is known already, or is not.
  bool learn_plain_type(MPI_Datatype type);
  bool knows_plain_type(MPI_Datatype type) const { return type == plain_type_; }
  // A get of a window that is not cached, which a trace wants all the same. Its answer is `pass`.
  Decision observe_uncached(const GetCall& call, bool request);
  // The get of a miss or a rest has been issued. Returns its record, no_record if nothing is to be
  // kept.
  uint32_t issued(const GetCall& call, const Decision& decision);

  // A passed get has been issued.
  void passed(const GetCall& call, const Decision& decision);
  // The get of a rest or a line was refused.
  void rest_refused(const CachedWindow::Decision& decision) { cached_.rest_refused(decision); }
  // As of CachedWindow.
  CachedWindow::Decision look_ahead(const Decision& decision, uint32_t place) {
    return cached_.look_ahead(decision.get, decision.cached, place);
  }
  void issued_ahead(const Decision& decision, const CachedWindow::Decision& ahead) {
    cached_.issued_ahead(decision.get, ahead);
  }

  void sample_issued(int target, uint64_t bytes, uint64_t ticks) {
    sampling_.issued(target, bytes, ticks);
  }
  // The same of an Rget; returns the number by which its wait is told.
  uint64_t sample_request(int target, uint64_t bytes, uint64_t ticks) {
    return sampling_.request_issued(target, bytes, ticks);
  }
  void request_joined(int target, uint64_t bytes) { sampling_.request_joined(target, bytes); }
  // What is measured took so long in a wait or a test of its request alone.
  void request_waited(uint64_t sample, uint64_t ticks, bool complete);

  // --- Synchronisation (sync.cpp). ---

  // What MPI is about to complete; taken before it is called.
  struct Completion {
    CachedWindow::Completion cached;
    uint64_t began = 0;  // of the measured synchronisation, in ticks; 0: not measured
  };
  // `local`: puts and accumulates complete at the origin only.
  Completion begin_sync(Targets targets, bool local);
  // If it failed nothing is complete: what was outstanding is, gets that wait for their data go on
  // waiting.
  void end_sync(const Completion& completion, bool succeeded);
  // The short way, without other threads, where no get waits to be stored and none is being
  // measured.
  bool nothing_to_complete() const {
    return cached_.nothing_to_complete() && sampling_.idle() && sampling_.request_idle();
  }
  void synced(Targets targets, bool local, bool succeeded) {
    cached_.synced(targets, local, succeeded);
    ++counters_.syncs_passed;
  }

  // The get of a record that a request belongs to has arrived, or has failed.
  void request_completed(uint32_t record, uint64_t serial, bool succeeded);
  // Does its data arrive in a buffer of ours?
  bool fetches_line(uint32_t record, uint64_t serial) {
    const WindowLock lock(mutex_);
    return cached_.fetches_line(record, serial);
  }
  uint64_t serial_of(uint32_t record) { return cached_.serial_of(record); }
  void belongs_to_request(uint32_t record) { cached_.belongs_to_request(record); }

  // --- Own writes (struct Write). ---

  Write describe_write(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) const;
  // Before it is issued, and after.
  void write_begins(const Write& write) {
    if (!write.target.is_one()) return;
    sampling_.write_begins(static_cast<int>(write.target.rank()));
    cached_.write_begins(write.target.rank(), write.from, write.to);
  }
  void write_issued(const Write& write) {
    if (write.target.is_one()) cached_.write_issued(write.target.rank());
  }
  // Tells the trace.
  void observe_write(TraceWrite kind, const Write& write);
  void observe_sync(TraceSync kind, Targets targets);

  static constexpr MPI_Count plain_count_limit = INT32_MAX;

  // The flush that follows a plain hit.
  void tell_plain_flush(int target);

  // What the short ways rely on is no more: one thread, progress between served calls, memory of
  // the processor's own.
  void leave_short_ways();

  Counters& counters() { return counters_; }
  // Not in a pause: its writes were not noted, so what is cached may be older.
  bool serves_plain_hits() const {
    return plain_ && !pause_.on() &&
           (!transparent_ || context.acquires.quiet.load(std::memory_order_relaxed));
  }
  uint64_t hits() const { return plain_hits_ + cached_.hits(); }

 private:
  void count_as_open(int by) const;
  // Set up for the first time: nothing can be outstanding yet.
  void adopt_mode(Mode mode);
  void pause(MPI_Datatype type, uint64_t bytes);
  void pause_of_others();
  void note_own_get();
  // Too little repeats, and no quiet phase is hoped for, or none would help.
  bool asleep() const {
    return transparent_ && (all_far_ || asleep(false)) && (!any_far_ || asleep(true));
  }
  bool asleep(bool far) const {
    return dormancy_[far].asleep() && (nearly_cheap_[far] || !context.phases.reading());
  }
  bool may_pause() const { return !context.threaded && !observed_; }
  // No get is on its way into the cache, and what is there may be left alone.
  bool holds_nothing() const;
  // The bytes of gets up to which all pass, from any target; 0 if those of `bytes` do not.
  uint64_t passing_up_to(uint64_t bytes) const;
  static uint64_t size_of(MPI_Datatype type);
  bool is_far(uint32_t target) const {
    return any_far_ && target < identity_.far.size() && identity_.far[target] != 0;
  }
  bool ensure_cache();
  // Under a shared lock that MPI may not have taken yet.
  bool may_be_served_unlocked(const GetCall& call, bool request);
  CachedWindow::Decision look_up_unlocked(const GetCall& call, const RemoteGet& get, bool request);
  bool understand(const GetCall& call, RemoteGet* get) const;
  static uint64_t bytes_of(const GetCall& call);
  bool bypassed(const RemoteGet& get) const {
    return cached_.never_cached(get) || sampling_.cheap(is_far(get.key.target), get.bytes);
  }
  void may_fetch_line(const RemoteGet& get) {
    cached_.allow_lines(!skip_cheap_ || sampling_.latency_rules(is_far(get.key.target)));
  }
  Decision pass(int target, const RemoteGet& get, bool request);
  Decision decide_absent(const GetCall& call);
  Decision decided(const RemoteGet& get, const CachedWindow::Decision& cached, bool request);
  bool miss_is_sampled(uint32_t target, bool request) {
    return request ? sampling_.request_miss_is_due()
                   : sampling_.miss_is_due(!epochs().outstanding(target));
  }
  void observe(Outcome outcome, const RemoteGet& get, uint64_t from_cache) {
    if (observed_ && get.hash != 0) [[unlikely]]
      tell(outcome, get, from_cache);
  }
  void tell(Outcome outcome, const RemoteGet& get, uint64_t from_cache);
  void tell_plain_hit(const Key& key, uint64_t hash, uint64_t bytes);
  bool of_another();
  void tell_levels();
  void maybe_adapt();
  void learn_cost(const CostSampling::Result& result);
  void tell_costs();  // to the cache, what was measured
  void estimate_times(Counters* counters) const;

  // What a hit reads and writes lies together, in two cache lines.
  alignas(64) MPI_Win handle_ = MPI_WIN_NULL;
  int64_t plain_unit_ = 1;  // identity_.unit
  MPI_Datatype plain_type_ =
      MPI_DATATYPE_NULL;  // the last predefined contiguous type, and its layout
  const Layout* plain_layout_ = nullptr;
  uint32_t plain_type_size_ = 0;
  bool plain_ = false;        // the short ways may be taken: unit known, no other threads
  bool transparent_ = false;  // modes transparent and coherent: in quiet phases only
  bool keeps_ = false;        // what was read across acquires (mpi/coherence)
  bool shares_ = false;       // a cache with other ranks of the node
  const bool observed_ = context.observer.wanted();
  Pause pause_;
  int unnoted_rank_ = INT_MIN;  // the own one
  bool wrote_unnoted_ = false;  // in this pause
  uint64_t own_gets_ = 0;       // of it, that were not noted
  std::atomic<bool> caching_{false};
  std::atomic<bool> unknown_outstanding_{false};
  uint64_t plain_hits_ = 0;  // gets served by serve_plain_hit; not in the counts of cached_ yet
  uint64_t plain_bytes_ = 0;
  uint64_t syncs_served_ = 0;

  // What a miss looks at besides.
  bool skip_cheap_ = true;     // options_.skip_cheap
  bool nearly_cheap_[2] = {};  // of near and far targets: gets of the size that was judged last
  bool fetching_ = false;
  bool any_far_ = false, all_far_ = true;  // of the other ranks
  bool may_defer_locks_ = true;
  DeferredLocks deferred_;
  CostSampling sampling_;
  CachedWindow cached_;
  std::unique_ptr<CoherentWindow> coherent_;
  std::string why_incoherent_, why_unshared_;

  // Left by serve_plain_hit to the `decide` that follows: nothing is cached under this key.
  struct Absent {
    bool known = false;
    Key key;
    uint64_t hash = 0, bytes = 0;
  };
  Absent absent_;
  WindowIdentity identity_;
  MPI_Group group_ = MPI_GROUP_NULL;
  Options options_;
  bool awaits_invalidate_ = false;
  std::string obstacle_;
  std::mutex mutex_;
  Counters counters_;  // of what is not counted by cached_
  // of near and far targets: what it costs to look is much for the ones, nothing for the others
  Dormancy dormancy_[2];
  ProfileLevels levels_told_;
  uint64_t of_others_told_ = 0;  // hits of what other ranks had fetched, when a get was last told
  uint32_t shared_levels_looks_ = 0;
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
  GetCache* cache = cached_.cache();
  if (static_cast<uint32_t>(call.target) >= epochs().ranks() || cache == nullptr) return false;
  if (transparent_) {
    if (!context.phases.quiet() || !cached_.has_room_to_store() || locks_deferred()) return false;
    if (!shares_) cache->set_generation(context.acquires.now());
  }
  if (call.origin_type != call.target_type || call.origin_count != call.target_count ||
      call.origin_count <= 0)
    return false;
  if (call.origin_type != plain_type_) return false;
  if (!epochs().open(static_cast<uint32_t>(call.target))) return false;
  Key key;
  if (__builtin_mul_overflow(static_cast<int64_t>(call.displacement), plain_unit_,
                             &key.displacement))
    return false;
  key.target = static_cast<uint32_t>(call.target);
  // a large count: its bytes are computed with care elsewhere
  if (call.origin_count > plain_count_limit) return false;
  const uint64_t bytes = plain_type_size_ * static_cast<uint64_t>(call.origin_count);
  // no type at all, while none is known; no buffer: errors, which MPI reports
  if (bytes == 0 || call.origin == nullptr) [[unlikely]]
    return false;
  const uint64_t hash = hash_key(key);
  if (shares_) {
    if (!cached_.hit_shared(key, hash, bytes, call.origin)) return false;
    ++plain_hits_;
    plain_bytes_ += bytes;
    if (observed_) [[unlikely]]
      tell_plain_hit(key, hash, bytes);
    return true;
  }
  bool absent = false;
  uint64_t offset = 0;
  EntryId entry = cache->find_hit(hash, key, bytes, &absent);
  if (entry == no_entry) {
    if (!absent) return false;
    entry = cache->find_part(key, bytes, &offset);
    if (entry == no_entry) {
      absent_ = {true, key, hash, bytes};
      return false;
    }
  }
  if (transparent_ && cached_.polls(key)) return false;
  const std::byte* data = cache->data(entry) + offset;
  if (bytes == sizeof(uint64_t)) {  // the commonest get of all: no call
    std::memcpy(call.origin, data, sizeof(uint64_t));
  } else {
    copy_bytes(call.origin, data, bytes);
  }
  if (!absent) {
    cache->count_hit(entry, bytes);
  } else {
    cache->count_part(entry, bytes);
  }
  ++plain_hits_;
  plain_bytes_ += bytes;
  if (observed_) [[unlikely]]
    tell_plain_hit(key, hash, bytes);
  return true;
}

}  // namespace nearcache::mpi
