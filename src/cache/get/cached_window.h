// SPDX-License-Identifier: BSD-3-Clause

// The cache of one window as a front end drives it: which gets it answers, what it keeps of a get
// in flight, what own writes and synchronisation mean for it, and the mode's rule. Knows nothing of
// MPI: the front end interprets the calls (key, bytes, target), issues the gets, and reports when
// they are complete. `src/mpi/window` does so for programs, `src/simulate` for traces, with the
// same decisions.
//
//   look_up      full: the data is copied
//                pending: the data will be copied when another get is complete
//                partial: part of it is copied
//   issued       finds room in the cache, and creates a record of the get in flight
//   begin_sync   notes what a synchronisation will complete
//   end_sync     stores the data of those records, and copies it to the gets that wait for it
//
// No locks: the caller has one per window, and need not hold it while it issues a get or
// synchronises.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory.h"
#include "base/options.h"
#include "base/outcome.h"
#include "base/region.h"
#include "cache/get/acquires.h"
#include "cache/get/epochs.h"
#include "cache/get/get_cache.h"
#include "cache/get/layout.h"
#include "cache/get/lines.h"
#include "cache/get/pending.h"
#include "cache/get/repeats.h"
#include "cache/get/streams.h"
#include "cache/get/versions.h"
#include "cache/poll_detector.h"
#include "cache/shared/shared_cache.h"

namespace nearcache {

// What the options require of a window's cache.
struct CachingRules {
  explicit CachingRules(const Options& options);
  CachingRules() = default;
  // Returns true if a cache made by the other rules would be the same.
  bool same_cache(const CachingRules& other) const;

  Mode mode = Mode::off;
  uint64_t max_get = 4 << 20;
  bool skip_cheap = true;  // store a miss only if that seems worth the copy
  GetCacheSettings cache;
};

struct WindowShape {
  uint32_t rank = 0, ranks = 1;
  int64_t unit = 1;         // displacement unit of all ranks; 0 if they differ
  int64_t least_bytes = 0;  // every rank's window has at least this size; 0 if unknown
};

// A get, as far as the cache needs to know it.
struct RemoteGet {
  Key key;
  uint64_t hash;
  uint64_t bytes;
  int64_t from, to;  // range of bytes at the target, for comparison with own writes
  // contiguous, at a known byte: entries that contain or overlap it may serve it, or parts of it
  bool contiguous_target;
  void* origin;  // where the data is copied to and from; null in a simulation
  Elements elements;
};

// Counts of gets, by what became of them.
struct CacheCounts {
  uint64_t gets = 0, bytes_requested = 0, bytes_from_cache = 0, bytes_from_network = 0;
  uint64_t hits_full = 0, hits_pending = 0, hits_partial = 0;
  uint64_t direct = 0, conflicting = 0, capacity = 0, failing = 0, bypassed = 0;
  uint64_t evictions = 0, write_drops = 0, invalidations = 0, adaptations = 0;
};

class CachedWindow {
 public:
  enum class Data : uint8_t { moved, simulated };

  // In mode transparent nothing older than the last of `acquires` is served. An acquire is added
  // when a polled word has changed.
  CachedWindow(const WindowShape& shape, const CachingRules& rules, MemoryBudget* budget,
               Acquires* acquires, Data data);
  ~CachedWindow() { drop_cache(); }
  CachedWindow(const CachedWindow&) = delete;
  CachedWindow& operator=(const CachedWindow&) = delete;

  const WindowShape& shape() const { return shape_; }
  const CachingRules& rules() const { return rules_; }
  Mode mode() const { return rules_.mode; }
  // Changes the mode. Gets in flight complete and serve those that wait for them, but are not kept.
  void set_mode(Mode mode);
  void set_rules(const CachingRules& rules);
  // Makes everything read so far stale. In mode transparent, the caller must count an acquire
  // itself.
  void invalidate();
  void reset();  // empties the cache and zeroes all counts

  // The cache is made at the first get that may need it, so a window that is only written costs
  // nothing. stores() returns true if data outlives the synchronisation that completes it; in mode
  // transparent, that begins with the first quiet phase, and requires storage. make_cache() makes
  // the cache, `growth` being the limit for adapting. It returns false if there is no memory within
  // the budget, or no address space.
  bool stores() const {
    return !ends_at_acquires(rules_.mode) || versions_ != nullptr ||
           acquires_->quiet.load(std::memory_order_relaxed);
  }
  // Returns true if more may be fetched than what the program asked for. What it did not ask for
  // may be written while it is in flight, and this rank must be told before it asks for that.
  bool may_fetch_more() const {
    return !ends_at_acquires(rules_.mode) || acquires_->quiet.load(std::memory_order_relaxed);
  }
  bool has_cache() const { return cache_ != nullptr && (has_room_to_store() || !stores()); }
  // Like has_cache(). pre: the cache has been made, and stores() is true.
  bool has_room_to_store() const { return has_storage_ || shared_ != nullptr; }
  bool make_cache(const GetCache::Geometry& growth);
  // Returns how far caches with these rules may grow within `limit` bytes.
  GetCache::Geometry growth_within(uint64_t limit) const;
  GetCache* cache() { return cache_; }
  // From now on, keeps fetched data in `shared`, for all ranks of the node, instead of in storage
  // of this window's own; its own cache then holds only gets in flight. Call this before the first
  // get.
  void share(std::unique_ptr<SharedCache> shared) {
    shared_ = std::move(shared);
    wrote_unseen_ = false;  // nothing has been written yet
    acquired_ = acquires_->now();
  }
  SharedCache* shared() const { return shared_.get(); }
  // Returns true if this rank may be served data that others on the node have fetched since its
  // last acquire. In modes that drop data at acquires, that requires a quiet phase, in which this
  // rank is told who writes, and an epoch that has already begun at the target.
  bool takes_from_others(uint32_t target) const {
    return !ends_at_acquires(rules_.mode) ||
           (acquires_->quiet.load(std::memory_order_relaxed) && !epochs_.may_begin_later(target));
  }
  // Tells the cache that own writes have bypassed this class, or may have.
  void wrote_unnoted();
  // Returns the id of a layout for keys; SharedCache::no_name if it has none.
  uint32_t name_of(const Layout& layout) const {
    return shared_ == nullptr ? layout.id : shared_->name(layout);
  }
  // The fast path of a hit in the shared cache, for a contiguous key and a contiguous origin.
  // Returns false if update_generation() has anything to do. A rank's own memory may be in the
  // shared cache, too, because other ranks fetched it, but is never cached for its owner.
  [[gnu::always_inline]] bool hit_shared(const Key& key, uint64_t hash, uint64_t bytes, void* to) {
    if (key.target == shape_.rank) return false;
    if (ends_at_acquires(rules_.mode)) {
      if (!takes_from_others(key.target) || acquired_ != acquires_->now() || polls(key))
        return false;
    }
    SharedCache::Found found;
    if (!shared_->find_by_name(hash, key, bytes, &found)) [[unlikely]]
      return hit_shared_with_care(key, hash, bytes, to);
    return take_shared(found, key, bytes, to);
  }
  // Sets the cost of a get, for the policies of this cache and of the shared one.
  void set_costs(double latency_ns, double ns_per_byte);
  const GetCache* cache() const { return cache_; }

  // Mode coherent. After the first call, what is fetched outlives acquires if its target's versions
  // say that nothing has changed; after the second, it no longer does.
  void keep_across_acquires(Regions regions);
  void drop_at_acquires();
  // Mode coherent: tells `repeats` of each get that arrives; null: nobody, as in a simulation,
  // where no data arrives.
  void tell_of_arrivals(Repeats* repeats) { repeats_ = repeats; }
  const Versions* versions() const { return versions_.get(); }
  // Returns true if the target's words are to be read before look_up() of a get of this target.
  bool wants_validation(uint32_t target) {
    update_generation();
    return versions_->wants_validation(target, cache_->generation());
  }
  bool likely_needed(uint32_t target) const {
    return versions_->likely(target, cache_->generation());
  }
  uint32_t validated(uint32_t target, const VersionWords& words) {
    if (shared_ == nullptr) return versions_->validated(target, cache_->generation(), words);
    // others fetch, too: what they fetch from this clock on comes after the words
    const uint32_t clock = clock_of_words();
    return versions_->validated(target, cache_->generation(), words, clock);
  }

  Epochs& epochs() { return epochs_; }
  const Epochs& epochs() const { return epochs_; }

  // --- Gets. ---

  // Returns true for gets that are never cached: of own memory, or too large.
  bool never_cached(const RemoteGet& get) const {
    return get.key.target == shape_.rank || get.bytes > rules_.max_get;
  }

  enum class Answer : uint8_t {
    pass,    // not for the cache: issue the get unchanged, then call `passed`
    served,  // done, or will be when the epoch's gets are
    // part of it is done: fetch the rest by a get of its own, then call `issued` or `rest_refused`
    rest,
    miss  // issue the get, or that of its line, then call `issued` or `rest_refused`
  };
  // The line around a small get: bytes [from, from + bytes) of the target, to be fetched into
  // `buffer` in place of the get. `bytes` 0: none.
  struct Line {
    int64_t from = 0;
    uint64_t bytes = 0;
    std::byte* buffer = nullptr;  // null in a simulation
  };
  struct Decision {
    Answer answer = Answer::pass;
    Outcome outcome = Outcome::bypassed;  // of a get that is served, completely or in part
    uint64_t head = 0, tail = 0;          // rest: bytes served before and after it
    bool whole = false;                   // rest: the get is kept as a whole, under its own key
    EntryId entry = no_entry;             // rest: the entry of the head, if it may grow
    // rest: the get in flight that will deliver the head, and the waiter for it
    uint32_t record = no_record, waiter = no_record;
    uint64_t serial = 0;  // rest: the serial of that get
    // generation of the cache, own writes, completions of those and insertions at the time of the
    // decision: if any has changed when the get has been issued, another thread has intervened
    uint32_t generation = 0;
    uint32_t write_seq = 0;
    uint32_t writes_completed = 0;
    uint64_t insertions = 0;
    uint64_t stamp = 0;  // the shared cache's clock
    // miss: 0, or a hash of the cached bytes if the get would have hit, but the word is polled
    uint64_t polled = 0;
    Line line;    // miss
    Ahead ahead;  // miss: to be passed to `look_ahead` when the get has been issued
    uint64_t from_cache() const { return head + tail; }
  };
  // Called in modes that drop data at acquires, before a hit is served on the fast path. Returns
  // true if it must not be, because the program is polling.
  [[gnu::always_inline]] bool polls(const Key& key) { return polls_.quick_hit_polls(word_of(key)); }
  // Looks up a get. `request`: the get has a request of its own (MPI_Rget) and must not depend on
  // the completion of another get. pre: the cache has been made.
  Decision look_up(const RemoteGet& get, bool request);
  // Like look_up(), for a get whose key the caller has found to be absent (GetCache::find_hit).
  Decision look_up_absent(const RemoteGet& get);

  struct Issued {
    uint32_t record = no_record;  // no_record if nothing is to be kept
    Outcome outcome = Outcome::failing;
    bool told = false;     // `outcome` is new; that of a rest was reported before
    bool crowded = false;  // there was no free room
  };
  // Called when the get of a miss or a rest has been issued.
  Issued issued(const RemoteGet& asked, const Decision& decision);
  // Returns the get for the `place`-th place ahead of a miss, to be fetched as a line; if the line
  // has no bytes, nothing is to be fetched. Then call issued_ahead() or rest_refused().
  Decision look_ahead(const RemoteGet& get, const Decision& decision, uint32_t place);
  void issued_ahead(const RemoteGet& get, const Decision& ahead);
  // Called when a get that bypassed the cache has been issued. A get whose target is not a rank is
  // not outstanding anywhere.
  void passed(uint64_t bytes, Targets target);
  // Called when the get of a rest or a line was refused. Removes the waiter for its head, whose
  // origin must not be written to any more.
  void rest_refused(const Decision& decision);

  bool adapt_is_due() const { return cache_ != nullptr && cache_->adapt_is_due(); }
  int adapt();  // returns how many sizes were changed

  // --- Synchronisation. ---

  // What is about to be completed; noted before the synchronisation.
  struct Completion {
    Epochs::Sync sync;
    uint64_t up_to;  // serial of the last get issued by then
  };
  // `local`: own writes are completed at the origin only.
  Completion begin_sync(Targets targets, bool local);
  // If the synchronisation failed, nothing is complete: outstanding operations stay outstanding,
  // and gets that wait for data go on waiting. Unless it is `over` all the same: what has arrived
  // is then copied to those, and not stored.
  void end_sync(const Completion& completion, bool succeeded, bool over = false);
  // Returns true if no get waits to be stored and no synchronisation is in progress; synced() may
  // then replace begin_sync() and end_sync().
  bool nothing_to_complete() const { return pending_.none() && !epochs_.under_way(); }
  void synced(Targets targets, bool local, bool succeeded) {
    if (targets.is_one() && !local && succeeded && epochs_.end_alone(targets.rank()))
      return settle_writes();
    epochs_.end(epochs_.begin(targets, local, Epochs::no_mark), succeeded);
    settle_writes();
  }

  // Reports that the get of a record that belongs to a request has arrived, or has failed. Returns
  // false if the record now belongs to another get.
  bool request_completed(uint32_t record, uint64_t serial, bool succeeded);
  void belongs_to_request(uint32_t record) { pending_[record].of_request = true; }
  uint64_t serial_of(uint32_t record) { return pending_[record].serial; }
  bool fetches_line(uint32_t record, uint64_t serial) {
    return pending_.is_of(record, serial) && pending_[record].buffer != nullptr;
  }
  uint32_t target_of(uint32_t record) { return pending_[record].target; }
  bool is_of(uint32_t record, uint64_t serial) { return pending_.is_of(record, serial); }

  // --- Own writes of [from, to): to be reported before they are issued, and after. ---
  void write_begins(uint32_t target, int64_t from, int64_t to);
  void write_issued(uint32_t target) { epochs_.write_issued(target); }
  // Called after something was completed that bypassed this class (`Epochs`).
  void settle_writes() {
    if (shared_ != nullptr && cache_ != nullptr &&
        (cache_->writes().now() != settled_ || shared_->in_doubt()))
      note_completed_writes();
  }

  // Sets whether small gets may fetch lines and read ahead.
  void allow_lines(bool allowed) { lines_allowed_ = allowed; }

  CacheCounts counts() const;
  uint64_t hits() const { return counts_.hits_full + counts_.hits_pending + counts_.hits_partial; }

 private:
  // Clocks further apart than this are not compared by 32 bits (see also limit_stamps).
  static constexpr uint64_t most_distance = uint64_t{1} << 30;

  bool moves_data() const { return data_ == Data::moved; }
  bool reserve(const GetCache::Geometry& geometry);
  void drop_cache();
  void update_generation() {
    if (!ends_at_acquires(rules_.mode)) return;
    if (shared_ != nullptr) return follow_acquires();
    if (versions_ != nullptr) limit_stamps();
    cache_->set_generation(acquires_->now());
  }
  void limit_stamps();
  // The generation is the shared cache's clock.
  void follow_acquires() {
    if (acquired_ == acquires_->now()) return;
    acquired_ = acquires_->now();
    advance_floor();
  }
  void advance_floor();
  uint32_t clock_of_words();
  void forget_shared();
  void forget_versions();
  void begin_writes();
  void note_completed_writes();
  [[gnu::always_inline]] bool find_shared(const Key& key, uint64_t hash, uint64_t bytes,
                                          int64_t from, int64_t to, SharedCache::Found* found) {
    return shared_->find(hash, key, bytes, found) && serves(*found, from, to, bytes);
  }
  [[gnu::always_inline]] bool serves(const SharedCache::Found& found, int64_t from, int64_t to,
                                     uint64_t bytes) {
    return shared_->is_sure(found.said) ||
           is_for_us(PublishedEntry::Said(found.said), from, to, bytes);
  }
  // Serves a contiguous get from what was found.
  [[gnu::always_inline]] bool take_shared(const SharedCache::Found& found, const Key& key,
                                          uint64_t bytes, void* to) {
    SharedCache& shared = *shared_;
    if (!serves(found, key.displacement, key.displacement + static_cast<int64_t>(bytes), bytes) ||
        !shared.copy(found, bytes, to))
      return false;
    shared.count_hit(found);
    return true;
  }
  bool hit_shared_with_care(const Key& key, uint64_t hash, uint64_t bytes, void* to);
  bool is_for_us(const PublishedEntry::Said& said, int64_t from, int64_t to, uint64_t bytes);
  bool kept_shared(const PublishedEntry::Said& said, int64_t from, int64_t to, uint64_t bytes);
  bool serve_shared(const RemoteGet& get, Decision* decision);
  void publish(const PendingGet& get, const std::byte* packed);

  void served(uint64_t bytes) {
    ++counts_.gets;
    counts_.bytes_requested += bytes;
    counts_.bytes_from_cache += bytes;
  }
  static uint64_t word_of(const Key& key) {
    return static_cast<uint64_t>(key.displacement) ^ uint64_t { key.target } << 40;
  }
  bool looks_polled(const RemoteGet& get);
  Decision fetch_again(const RemoteGet& get, EntryId entry, uint64_t offset);
  static uint64_t hash_bytes(const std::byte* data, uint64_t bytes);
  void compare(const PendingGet& get, const std::byte* packed);
  Decision serve(const RemoteGet& get, EntryId entry, uint64_t offset);
  Decision serve_overlap(const RemoteGet& get, const GetCache::Overlap& overlap);
  Decision serve_pending(const RemoteGet& get, uint32_t record, const Waiter& waiter);
  bool may_join(uint32_t record, bool request) { return !request && !pending_[record].of_request; }
  Decision serve_parts(const RemoteGet& get, const GetCache::Overlap& overlap);
  Decision no_exact_hit(const RemoteGet& get, bool request);
  Decision small_miss(const RemoteGet& get, bool request, bool has_head);
  bool may_fetch(const RemoteGet& get, Line* line);
  Line line_around(const RemoteGet& get, bool has_head);
  static RemoteGet get_of(const RemoteGet& get, const Line& line);
  bool note_use(const RemoteGet& get, EntryId entry);
  Decision join(const RemoteGet& get, const GetCache::Lookup& found);
  Decision partial(const RemoteGet& get, const GetCache::Lookup& found);
  Decision miss() const;
  bool in_one_run(const RemoteGet& get) const { return !moves_data() || get.elements.contiguous(); }
  uint64_t usable_head(const RemoteGet& get, uint64_t have) const;
  bool overlaps_outstanding_write(const RemoteGet& get) const;
  bool may_be_kept(const RemoteGet& get, const Decision& decision);
  uint32_t add_record(const RemoteGet& get, const Decision& decision);
  void inserted(uint32_t target);
  EntryId find_room(const RemoteGet& get, const Decision& decision, uint32_t record,
                    Issued* issued);
  void missed(const Decision& decision, Outcome outcome, Issued* issued);
  void complete(uint32_t record, bool succeeded, bool over = false);
  const std::byte* packed_data(const PendingGet& get);
  void take_data(const PendingGet& get, const std::byte* packed, bool succeeded);
  bool tells_of_arrivals() const { return repeats_ != nullptr && rules_.mode == Mode::coherent; }
  void tell_of_arrival(const PendingGet& get, const std::byte* packed);
  void release(uint32_t record);

  // Members that a hit and its flush access come first.
  GetCache* cache_ = nullptr;
  Epochs epochs_;
  PendingGets pending_;
  const Data data_;
  WindowShape shape_;
  CachingRules rules_;
  MemoryBudget* budget_;
  Acquires* acquires_;
  bool has_storage_ = false;  // the cache was made with storage
  bool lines_allowed_ = true;
  std::unique_ptr<Lines> lines_;  // made with the cache, if lines are possible
  std::unique_ptr<Versions> versions_;
  Repeats* repeats_ = nullptr;
  std::unique_ptr<SharedCache> shared_;
  uint32_t acquired_ = 0;                // value of acquires_ when last examined
  bool wrote_unseen_ = false;            // there were own writes while there was no cache
  uint32_t settled_ = 0;                 // own writes known to be complete
  uint32_t settled_without_number_ = 0;  // last value of epochs_.completed_without_number()
  uint64_t floored_ = 0;                 // the shared cache's floor when stamps were last limited
  double latency_ns_ = 2000, ns_per_byte_ = 0.2;
  uint64_t stamped_ = 0;  // value of acquires_ when stamps were last limited
  uint64_t insertions_ = 0;
  CacheCounts counts_;  // evictions and write drops are those of dropped caches
  PollDetector polls_;
  std::vector<std::byte> scratch_;
  Region region_;
  Streams streams_;
  LineBuffers line_buffers_;
};

}  // namespace nearcache
