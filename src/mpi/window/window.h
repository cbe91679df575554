// SPDX-License-Identifier: BSD-3-Clause

// One MPI window: maps its calls to operations of its cache (cache/get/cached_window.h), decides
// which of its gets are measured or bypass the cache, and reports about them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

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
#include "mpi/window/unflushed.h"
#include "mpi/window/window_identity.h"
#include "telemetry/report.h"
#include "telemetry/stats.h"
#include "telemetry/trace_format.h"

namespace nearcache::mpi {

// Locks only in programs with MPI_THREAD_MULTIPLE: even an uncontended lock would take a third of
// the time of a hit. Never held during a call to MPI that may wait.
class WindowLock : public OptionalLock {
 public:
  explicit WindowLock(std::mutex& mutex) : OptionalLock(context.threaded ? &mutex : nullptr) {}
};

enum class PassedBy : uint8_t { never, in_pause, always };

class Window {
 public:
  // `obstacle` says why nothing may ever be cached (a shared-memory window, ...); empty if caching
  // is possible.
  Window(WindowIdentity identity, const Options& options, std::string obstacle);
  ~Window();  // frees its memory only; see retire()

  // Called when the program has freed the window: releases everything it holds elsewhere. Others
  // may still ask for its counters.
  void retire();

  MPI_Win handle() const { return handle_; }
  const WindowIdentity& identity() const { return identity_; }
  // The window's group; MPI is asked for it once. MPI_GROUP_NULL if that fails.
  MPI_Group group();
  Mode mode() const { return cached_.mode(); }
  const Options& options() const { return options_; }
  const std::string& obstacle() const { return obstacle_; }
  bool caching() const { return caching_.load(std::memory_order_relaxed); }
  // A trace or the report's details need to see every get; see observer.h.
  bool observed() const { return observed_; }
  std::mutex& mutex() { return mutex_; }

  // A put or an accumulate of the program: the range of bytes of one target that it touches,
  // possibly empty. Covers everything if only MPI knows the range.
  struct Write {
    Targets target;
    int64_t from = INT64_MIN, to = INT64_MAX;
  };

  // --- The calls below need the lock. ---

  void set_mode(Mode mode);  // call confirm_served first
  // The mode changes to user at the program's first invalidation of any window, unless the program
  // names a mode before that.
  void await_invalidate() { awaits_invalidate_ = true; }
  void mode_is_named() { awaits_invalidate_ = false; }
  void program_invalidates();
  // Applies what MPI_Win_set_info may change: the mode takes effect at once; new sizes or a new
  // policy start with an empty cache.
  void set_options(const Options& options);
  void invalidate();
  void reset();
  void fill_counters(Counters* counters) const;
  WindowReport report() const;

  // The open epochs, as far as we have seen the program's calls, and what is outstanding.
  Epochs& epochs() { return cached_.epochs(); }
  const Epochs& epochs() const { return cached_.epochs(); }
  // The target of a call by the rank the program gave; none for MPI_PROC_NULL and ranks outside of
  // the group.
  Targets targets(int rank) const { return Targets::named(rank, epochs().ranks()); }
  bool valid_target(int rank) const { return targets(rank).is_one(); }

  // Notes an operation that is issued while caching is off, so that caching may be switched on in
  // the middle of an epoch. Called without the lock.
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

  // --- Shared locks that are deferred until an operation needs them (deferred_locks.h). Call none
  // of these with the lock held. ---

  bool may_defer_lock(int rank);
  void defer_lock(int rank, int assert);
  bool locks_deferred() const { return deferred_.any(); }
  DeferredLocks& deferred() { return deferred_; }
  // Turns deferral off: the program may load and store others' memory under a lock that is also to
  // keep other ranks out.
  void defer_no_locks() { may_defer_locks_ = false; }
  int take_locks(Targets targets) { return deferred_.take(*this, targets); }
  int confirm_served(Targets targets) { return deferred_.confirm(*this, targets); }
  bool drop_lock(Targets target) { return target.is_one() && deferred_.drop(*this, target.rank()); }
  // Called before this get may be served under a deferred lock: makes room to remember it, or
  // confirms at once if the get could not easily be issued later.
  void prepare_to_serve(const GetCall& call);

  // A fetching accumulate is outstanding: the call that completes it may carry news of others'
  // writes.
  void fetch_begins() { fetching_ = true; }
  bool may_complete_fetches() const { return fetching_; }
  // While calls are not noted, it is unknown which target has completed its own fetches. Call with
  // the lock held.
  bool completes_fetches() {
    fetching_ = fetching_ && (pause_.on() || !epochs().quiet() || unknown_outstanding_);
    return fetching_;
  }

  // Whether own writes, to any target, may be outstanding. Call with the lock held.
  bool writes_may_be_outstanding() const {
    return pause_.on() ? wrote_before_pause_ || !unflushed_.none()
                       : epochs().some_writes_outstanding() || unknown_outstanding_;
  }

  // Returns true if a flush would complete nothing and is no error: a passive epoch is known to be
  // open.
  bool may_serve_flush(Targets targets) const {
    return context.progress.available() && !pause_.on() && epochs().flush_is_empty(targets);
  }

  void flush_served() { ++syncs_served_; }
  // Lets MPI make progress while it is not called for other reasons. Takes the lock itself.
  void call_for_progress();
  // The fastest check whether a flush of `target` may be served.
  bool serves_plain_flush(int target) const {
    return plain_ && epochs().open_for_all() && epochs().quiet() &&
           static_cast<uint32_t>(target) < epochs().ranks();
  }

  // Sets the cache shared with the ranks of the node (sharing.h), or null and possibly the reason
  // why there is none. Call before the first get.
  void share(std::unique_ptr<SharedCache> shared, const std::string& why_not) {
    cached_.share(std::move(shared));
    shares_ = cached_.shared() != nullptr;
    why_unshared_ = why_not;
    count_as_serving();
  }
  bool shares() const { return shares_; }

  // --- Coherent mode (mpi/coherence). coherent() is null if the ranks could not agree on it. ---

  void become_coherent(Board* board, uint32_t slot, Regions regions, CoherentWindow::Memory memory);
  void end_coherence() { coherent_.reset(); }
  void is_not_coherent_as(const std::string& why) { why_incoherent_ = why; }
  // In mode coherent: why it behaves like transparent, or why other ranks keep nothing of this
  // rank's memory. Empty if neither is the case.
  std::string why_incoherent() const;
  CoherentWindow* coherent() { return coherent_.get(); }
  // Fetched data outlives acquires.
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
  void tell_of_arrivals(Repeats* repeats) { cached_.tell_of_arrivals(repeats); }
  // Returns true if a get of the target cannot be answered before the events this rank has
  // synchronised with are complete. If the target's lock is still deferred, a served get is issued
  // later if it turns out not to be safe.
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
  // Announces a put or an accumulate to readers before it is issued.
  void announce_write(const Write& write) {
    if (write.target.is_one()) coherent_->writes(write.target.rank(), write.from, write.to);
  }

  // --- Calls passed to MPI without being noted: all calls on a paused window, and gets from the
  // rank itself. Not with several threads, nor if an observer needs to see every call. ---

  bool paused() const { return pause_.on(); }
  // False if get_passes() would return false.
  [[gnu::always_inline]] bool may_pass_get(int target) const {
    return pause_.on() || target == unnoted_rank_;
  }
  // Returns true, and counts the get, if it may go straight to MPI.
  [[gnu::always_inline]] bool get_passes(int target, MPI_Datatype type, MPI_Count count) {
    if (!may_pass_get(target)) return false;
    if (context.coherence.somebody_may_read() && context.coherence.somebody_reads()) [[unlikely]]
      return false;
    if (pause_.takes(type, count)) return true;
    if (target != unnoted_rank_) return false;
    if (!pause_.on()) [[unlikely]]
      note_own_get();
    own_gets_ += caching() ? 1 : 0;
    return true;
  }
  // Its part that counts, for a get from another rank.
  [[gnu::always_inline]] bool pause_takes(MPI_Datatype type, MPI_Count count) {
    return pause_.takes(type, count);
  }
  // Like get_passes(), for a get of a datatype that the fast path does not know.
  bool pause_takes(const GetCall& call) {
    return pause_.on() &&
           pause_.takes(call.origin_type, size_of(call.origin_type), call.origin_count);
  }
  void write_passes(int target) {
    wrote_unnoted_ = true;
    unflushed_.wrote(target);
  }
  // Writes from before this pause may be outstanding.
  bool wrote_before_pause() const { return wrote_before_pause_; }
  // No write is told of from now on.
  void writes_pass_untold() {
    wrote_unnoted_ = true;
    unflushed_.wrote_untold();
  }
  // A synchronisation has completed everything at these targets, perhaps during a pause.
  void completed_unnoted(Targets targets) {
    completed_in_pause(targets);
    if (wrote_before_pause_) [[unlikely]]
      completed_before_pause(targets);
  }
  // The same where nothing from before the pause was outstanding.
  void completed_in_pause(Targets targets) { unflushed_.completed(targets); }
  // Whether calls on this window may pass all caches by, as no lock must go down before them
  // (mpi/rma/straight.h): always, if they matter to none; in this pause, if nothing that any window
  // caches is served before the window or its cache is counted in context.serving_windows.
  PassedBy passed_by() const {
    if (!paused() || locks_wait()) return PassedBy::never;
    if (!caching() && context.learns_nothing() && context.coherence.nobody_ever_reads())
      return PassedBy::always;
    return context.serving_windows == 0 ? PassedBy::in_pause : PassedBy::never;
  }
  void flush_passed() { ++counters_.syncs_passed; }
  // Like flush_passed(), for a deferred lock that is passed to MPI. Takes the lock itself.
  void sync_passes() {
    const WindowLock lock(mutex_);
    ++counters_.syncs_passed;
  }
  void count_write(TraceWrite kind) {
    ++(kind == TraceWrite::put ? counters_.puts : counters_.accumulates);
  }
  // Called when a get has bypassed the cache or was made on an uncached window, and when a write or
  // a get from the rank itself was issued, or a lock of MPI's released. Pauses if it is time to.
  void maybe_pause(MPI_Datatype type, uint64_t bytes) {
    if (pause_.get_passed()) [[unlikely]]
      pause(type, bytes);
  }
  void maybe_pause_of_others() {
    if (pause_.other_passed() && !locks_deferred() && may_pause() && holds_nothing()) [[unlikely]]
      pause_of_others();
  }
  // Ends a pause: the cache is consulted again, or has been replaced.
  void wake();

  // --- Gets (get.cpp). ---

  using Answer = CachedWindow::Answer;
  struct Decision {
    CachedWindow::Decision cached;
    RemoteGet get{};       // its hash is 0 if the call was not understood
    bool sampled = false;  // measure the get
    Answer answer() const { return cached.answer; }
    bool fetches_line() const { return cached.line.bytes > 0; }
    // bytes that are fetched, or that bypass the cache
    uint64_t bytes() const { return fetches_line() ? cached.line.bytes : get.bytes; }
  };
  // `request`: the get is an Rget, which must not depend on another get's completion.
  Decision decide(const GetCall& call, bool request);
  // No decide() follows, as the call has failed.
  void decides_nothing() {
    const WindowLock lock(mutex_);
    absent_.known = false;
  }
  // Serves a get that is a plain hit: predefined contiguous types, cached, valid. If it returns
  // false, decide() must follow and continues from what was found here. Defined in plain_hit.h.
  inline bool serve_plain_hit(const GetCall& call);
  // Its parts, out of line as they need other registers: for a cache shared with other ranks; for
  // bytes inside a longer entry; for those if there is no entry under the get's key.
  bool serve_plain_hit_shared(Key key, uint64_t hash, uint64_t bytes, void* to);
  bool serve_plain_part(Key key, uint64_t bytes, void* to);
  bool serve_absent(Key key, uint64_t hash, uint64_t bytes, void* to);
  // The fast path knows a single datatype, the last one used; this makes `type` that one. Returns
  // false if it already is, or is not suitable.
  bool learn_plain_type(MPI_Datatype type);
  bool knows_plain_type(MPI_Datatype type) const { return type == plain_type_; }
  // Observes a get of an uncached window for a trace. The answer is always `pass`.
  Decision observe_uncached(const GetCall& call, bool request);
  // Called when the get of a miss, or of the missing rest of a partial hit, has been issued.
  // Returns its record, or no_record if nothing is to be kept.
  uint32_t issued(const GetCall& call, const Decision& decision);

  // Called when a get that bypasses the cache has been issued.
  void passed(const GetCall& call, const Decision& decision);
  // MPI refused the get, that of its rest or line, or the lock that it needs.
  void get_refused(const GetCall& call, const Decision& decision) {
    cached_.rest_refused(decision.cached);
    if (decision.answer() == Answer::rest && locks_deferred()) deferred_.not_served(call);
  }
  void ahead_refused(const CachedWindow::Decision& ahead) { cached_.rest_refused(ahead); }
  // See CachedWindow.
  CachedWindow::Decision look_ahead(const Decision& decision, uint32_t place) {
    return cached_.look_ahead(decision.get, decision.cached, place);
  }
  void issued_ahead(const Decision& decision, const CachedWindow::Decision& ahead) {
    cached_.issued_ahead(decision.get, ahead);
  }

  void sample_issued(int target, uint64_t bytes, uint64_t ticks) {
    sampling_.issued(target, bytes, ticks);
  }
  // Like sample_issued(), for an Rget; returns the number that identifies its measurement.
  uint64_t sample_request(int target, uint64_t bytes, uint64_t ticks) {
    return sampling_.request_issued(target, bytes, ticks);
  }
  void request_joined(int target, uint64_t bytes) { sampling_.request_joined(target, bytes); }
  // A measured request spent `ticks` in a wait or a test of it alone.
  void request_waited(uint64_t sample, uint64_t ticks, bool complete);

  // --- Synchronisation (sync.cpp). ---

  // What MPI is about to complete, recorded before it is called.
  struct Completion {
    CachedWindow::Completion cached;
    uint64_t began = 0;  // start of the measured synchronisation, in ticks; 0: not measured
    bool ends_epoch = false;
  };
  // `local`: puts and accumulates are completed at the origin only.
  Completion begin_sync(Targets targets, bool local, bool ends_epoch);
  // If the synchronisation failed, nothing is complete: what was outstanding remains so, and gets
  // that wait for their data keep waiting. Unless the RMA engine says that an operation has failed.
  void end_sync(const Completion& completion, int rc);
  // Whether a synchronisation that has returned this has completed everything.
  bool is_over(int rc) const { return rc == MPI_SUCCESS || is_over_in_spite_of(rc); }
  // Fast path for one thread: no get is waiting to be stored, and none is being measured.
  bool nothing_to_complete() const {
    return cached_.nothing_to_complete() && sampling_.idle() && sampling_.request_idle();
  }
  void synced(Targets targets, bool local, bool succeeded) {
    cached_.synced(targets, local, succeeded);
    ++counters_.syncs_passed;
  }

  // The get of `record`, which belongs to a request, has arrived, or has failed.
  void request_completed(uint32_t record, uint64_t serial, bool succeeded);
  // Returns true if its data arrives in a buffer of ours.
  bool fetches_line(uint32_t record, uint64_t serial) {
    const WindowLock lock(mutex_);
    return cached_.fetches_line(record, serial);
  }
  uint64_t serial_of(uint32_t record) { return cached_.serial_of(record); }
  void belongs_to_request(uint32_t record) { cached_.belongs_to_request(record); }

  // --- Own writes (struct Write). ---

  Write describe_write(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) const;
  // Called before the write is issued, and after.
  void write_begins(const Write& write) {
    if (!write.target.is_one()) return;
    sampling_.write_begins(static_cast<int>(write.target.rank()));
    cached_.write_begins(write.target.rank(), write.from, write.to);
  }
  void write_issued(const Write& write) {
    if (write.target.is_one()) cached_.write_issued(write.target.rank());
  }
  // Reports to the trace.
  void observe_write(TraceWrite kind, const Write& write);
  void observe_sync(TraceSync kind, Targets targets);

  static constexpr MPI_Count plain_count_limit = INT32_MAX;

  // Reports the flush that follows a plain hit.
  void tell_plain_flush(int target);

  // A precondition of the fast paths no longer holds: a single thread, progress between served
  // calls, or memory that the processor can access.
  void leave_short_ways();

  Counters& counters() { return counters_; }
  // False during a pause: writes are not noted then, so cached data may be stale.
  bool serves_plain_hits() const {
    return plain_ && !pause_.on() &&
           (!transparent_ || context.acquires.quiet.load(std::memory_order_relaxed));
  }
  uint64_t hits() const { return plain_hits_ + cached_.hits(); }

 private:
  void count_as_open(int by) const;
  void count_as_serving();
  // Sets the mode regardless of what is outstanding, which set_mode() takes care of.
  void adopt_mode(Mode mode);
  void pause(MPI_Datatype type, uint64_t bytes);
  void pause_of_others();
  void begin_pause();
  void completed_before_pause(Targets targets);
  void note_own_get();
  // Too few gets repeat, and no quiet phase is expected, or none would help.
  bool asleep() const {
    return transparent_ && (all_far_ || asleep(false)) && (!any_far_ || asleep(true));
  }
  bool asleep(bool far) const {
    return dormancy_[far].asleep() && (nearly_cheap_[far] || !context.phases.reading());
  }
  bool may_pause() const { return !context.threaded && !observed_; }
  // No get is on its way into the cache, and what the cache holds may stay there unused.
  bool holds_nothing() const;
  // The size in bytes up to which all gets bypass the cache, whatever the target; 0 if gets of
  // `bytes` bytes do not.
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
                   : sampling_.miss_is_due(static_cast<int>(target), !epochs().outstanding(target));
  }
  void observe(Outcome outcome, const RemoteGet& get, uint64_t from_cache) {
    if (observed_ && get.hash != 0) [[unlikely]]
      tell(outcome, get, from_cache);
  }
  void tell(Outcome outcome, const RemoteGet& get, uint64_t from_cache);
  void tell_plain_hit(Key key, uint64_t bytes);
  [[gnu::always_inline]] void count_plain_hit(Key key, uint64_t bytes) {
    ++plain_hits_;
    plain_bytes_ += bytes;
    if (observed_) [[unlikely]]
      tell_plain_hit(key, bytes);
  }
  bool of_another();
  void tell_levels();
  void maybe_adapt();
  bool is_over_in_spite_of(int rc) const;
  void learn_cost(const CostSampling::Result& result);
  void learn_from_pause(const Pause::Passed& passed);
  void gets_turned_cheap();
  void tell_costs();  // reports the measured costs to the cache
  void estimate_times(Counters* counters) const;

  // What a hit reads and writes is kept together, in two cache lines.
  alignas(64) MPI_Win handle_ = MPI_WIN_NULL;
  int64_t plain_unit_ = 1;  // identity_.unit
  // the last predefined contiguous type, and its layout
  MPI_Datatype plain_type_ = MPI_DATATYPE_NULL;
  const Layout* plain_layout_ = nullptr;
  uint32_t plain_type_size_ = 0;
  bool plain_ = false;         // fast paths are allowed: unit known, one thread
  bool transparent_ = false;   // mode transparent or coherent: plain hits in quiet phases only
  bool keeps_ = false;         // data that was read survives acquires (mpi/coherence)
  bool shares_ = false;        // a cache with other ranks of the node
  bool serving_ = false;       // is counted in context.serving_windows
  bool parts_follow_ = false;  // the last plain hit was on a part of an entry
  const bool observed_ = context.observer.wanted();
  Pause pause_;
  int unnoted_rank_ = INT_MIN;  // this rank
  bool wrote_unnoted_ = false;  // during this pause
  Unflushed unflushed_;         // of these writes
  // writes that were noted before it may be outstanding
  bool wrote_before_pause_ = false;
  uint64_t own_gets_ = 0;  // gets from this rank that were not noted
  std::atomic<bool> caching_{false};
  std::atomic<bool> unknown_outstanding_{false};
  uint64_t plain_hits_ = 0;  // gets served by serve_plain_hit, which cached_ does not count
  uint64_t plain_bytes_ = 0;
  uint64_t syncs_served_ = 0;

  // What a miss reads as well.
  bool skip_cheap_ = true;  // options_.skip_cheap
  // Of near and far targets, by the size of get judged last.
  bool nearly_cheap_[2] = {};
  uint32_t hits_wanted_[2] = {};
  bool fetching_ = false;
  bool any_far_ = false, all_far_ = true;  // among the other ranks
  bool may_defer_locks_ = true;
  DeferredLocks deferred_;
  CostSampling sampling_;
  CachedWindow cached_;
  std::unique_ptr<CoherentWindow> coherent_;
  std::string why_incoherent_, why_unshared_;

  // Left by serve_plain_hit for the following decide(): nothing is cached under this key.
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
  Counters counters_;  // of everything that cached_ does not count
  // of near and far targets: a look-up is expensive relative to a near get, and free relative to a
  // far one
  Dormancy dormancy_[2];
  ProfileLevels levels_told_;
  uint64_t of_others_told_ = 0;  // hits on data fetched by other ranks, as of the last reported get
  uint32_t shared_levels_looks_ = 0;
};

}  // namespace nearcache::mpi
