// The cache of one window as a front end drives it: which gets it answers, what it keeps of a get
// in flight, what own writes and synchronisation mean for it, and the mode's rule. Knows nothing of
// MPI: the front end says what a call means (key, bytes, target), issues the gets, and tells when
// they are complete. `src/mpi/window` does it for programs, `src/simulate` for traces, with the
// same decisions.
//
//   look_up      full: copied
//                pending: copied when the other get is complete
//                partial: a part is
//   issued       room in the cache, and a record of the get under way
//   begin_sync   what a synchronisation will complete
//   end_sync     the data of those records is stored, and copied to who waited for it
//
// No locks: the caller has one for a window, and need not hold it while it issues a get or
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
#include "cache/get/get_cache.h"
#include "cache/get/layout.h"
#include "cache/get/lines.h"
#include "cache/get/pending.h"
#include "cache/get/streams.h"
#include "cache/get/versions.h"
#include "cache/poll_detector.h"
#include "cache/shared/shared_cache.h"
#include "front/epochs.h"

namespace nearcache {

// What the options ask of a window's cache.
struct CachingRules {
  explicit CachingRules(const Options& options);
  CachingRules() = default;
  // Would a cache made by the other rules be another one?
  bool same_cache(const CachingRules& other) const;

  Mode mode = Mode::off;
  uint64_t max_get = 4 << 20;
  bool skip_cheap = true;  // a miss is stored only if that seems worth the copy
  GetCacheSettings cache;
};

struct WindowShape {
  uint32_t rank = 0, ranks = 1;
  int64_t unit = 1;         // displacement unit of all ranks, 0 if they differ
  int64_t least_bytes = 0;  // every rank's window has so many at least; 0 where that is not known
};

// A get, as far as the cache must know it.
struct RemoteGet {
  Key key;
  uint64_t hash;
  uint64_t bytes;
  int64_t from, to;  // bytes of the target, for comparison with own writes
  // at known bytes: it may be served by what contains or overlaps it, and the rest be fetched
  bool contiguous_target;
  void* origin;  // what data is copied to and from; a simulation has none
  Elements elements;
};

// What has come of the gets.
struct CacheCounts {
  uint64_t gets = 0, bytes_requested = 0, bytes_from_cache = 0, bytes_from_network = 0;
  uint64_t hits_full = 0, hits_pending = 0, hits_partial = 0;
  uint64_t direct = 0, conflicting = 0, capacity = 0, failing = 0, bypassed = 0;
  uint64_t evictions = 0, write_drops = 0, invalidations = 0, adaptations = 0;
};

class CachedWindow {
 public:
  enum class Data : uint8_t { moved, simulated };

  // In mode transparent nothing older than the last of `acquires` is served; one is added where a
  // word that is polled has changed.
  CachedWindow(const WindowShape& shape, const CachingRules& rules, MemoryBudget* budget,
               Acquires* acquires, Data data);
  ~CachedWindow() { drop_cache(); }
  CachedWindow(const CachedWindow&) = delete;
  CachedWindow& operator=(const CachedWindow&) = delete;

  const WindowShape& shape() const { return shape_; }
  const CachingRules& rules() const { return rules_; }
  Mode mode() const { return rules_.mode; }
  // Gets under way are completed, and go to those who wait for them; nothing of them is kept.
  void set_mode(Mode mode);
  void set_rules(const CachingRules& rules);
  // Nothing that was read before is served. In mode transparent it is the caller that has to count
  // an acquire.
  void invalidate();
  void reset();  // an empty cache, and all counts 0

  // The cache is made at the first get that may need it: a window that is only written costs
  // nothing. `growth` says how far adapting may go. False: there is no memory within the budget, or
  // no addresses. Mode transparent needs storage from the first quiet phase on. Data outlives the
  // synchronisation that completes it.
  bool stores() const {
    return !ends_at_acquires(rules_.mode) || versions_ != nullptr ||
           acquires_->quiet.load(std::memory_order_relaxed);
  }
  bool has_cache() const { return cache_ != nullptr && (has_room_to_store() || !stores()); }
  // The same of one that has been made, where `stores`.
  bool has_room_to_store() const { return has_storage_ || shared_ != nullptr; }
  bool make_cache(const GetCache::Geometry& growth);
  // As far as caches of these rules may grow within `limit` bytes.
  GetCache::Geometry growth_within(uint64_t limit) const;
  GetCache* cache() { return cache_; }
  // What is fetched from now on is kept here, for all ranks of the node, instead of in a storage of
  // this window's own: its own cache knows of gets under way only. Before the first get.
  void share(std::unique_ptr<SharedCache> shared) {
    shared_ = std::move(shared);
    wrote_unseen_ = false;  // nothing was written before
    acquired_ = acquires_->now();
  }
  SharedCache* shared() const { return shared_.get(); }
  // What others of the node fetch after this rank's last acquire is new enough for it only while it
  // is told of whoever writes, and in epochs that have begun at the target.
  bool takes_from_others(uint32_t target) const {
    return !ends_at_acquires(rules_.mode) ||
           (acquires_->quiet.load(std::memory_order_relaxed) && !epochs_.may_begin_later(target));
  }
  // Own writes went past this class, or may have.
  void wrote_unnoted();
  // What names a layout in keys; SharedCache::no_name where none does.
  uint32_t name_of(const Layout& layout) const {
    return shared_ == nullptr ? layout.id : shared_->name(layout);
  }
  // The short way of a hit in the shared cache, of a key at known bytes; none of it where
  // `update_generation` has something to do. Copies to a row of bytes. Own memory is there, too,
  // as others fetched it, but is never cached for its owner.
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
  // What is copied while it is kept, and the time a get takes: for the shared cache's policy.
  void set_costs(double latency_ns, double ns_per_byte);
  const GetCache* cache() const { return cache_; }

  // Mode coherent. From now on what is fetched outlives acquires, where its target's versions say
  // that nothing has changed; no longer.
  void keep_across_acquires(Regions regions);
  void drop_at_acquires();
  const Versions* versions() const { return versions_.get(); }
  // Before `look_up` of a get of this target: its words are to be read first.
  bool wants_validation(uint32_t target) {
    update_generation();
    return versions_->wants_validation(target, cache_->generation());
  }
  bool likely_needed(uint32_t target) const {
    return versions_->likely(target, cache_->generation());
  }
  uint32_t validated(uint32_t target, const VersionWords& words) {
    if (shared_ == nullptr) return versions_->validated(target, cache_->generation(), words);
    // others fetch, too: what they do from here on comes after the words
    const uint32_t clock = clock_of_words();
    return versions_->validated(target, cache_->generation(), words, clock);
  }

  Epochs& epochs() { return epochs_; }
  const Epochs& epochs() const { return epochs_; }

  // --- Gets. ---

  // Never cached: own memory, and what is too large.
  bool never_cached(const RemoteGet& get) const {
    return get.key.target == shape_.rank || get.bytes > rules_.max_get;
  }

  enum class Answer : uint8_t {
    pass,    // not for the cache: issue the get as it is, then call `passed`
    served,  // done, or will be when the epoch's gets are
    // a part is done: fetch the rest with a get of its own, then call `issued` or `rest_refused`
    rest,
    miss  // issue the get, or that of its line, then call `issued` or `rest_refused`
  };
  // Bytes [from, from + bytes) of the target around a small get, to be fetched into `buffer` in its
  // place; none if `bytes` is 0.
  struct Line {
    int64_t from = 0;
    uint64_t bytes = 0;
    std::byte* buffer = nullptr;  // null in a simulation
  };
  struct Decision {
    Answer answer = Answer::pass;
    Outcome outcome = Outcome::bypassed;  // of a get that is served, whole or in part
    uint64_t head = 0, tail = 0;          // rest: bytes served before and behind it
    bool whole = false;                   // rest: the get is kept as a whole, under its own name
    EntryId entry = no_entry;             // rest: of the head, if it may grow
    // rest: of the get that its head goes along with
    uint32_t record = no_record, waiter = no_record;
    uint64_t serial = 0;  // of that get
    // of the cache, own writes and insertions, when it was decided: where they are others
    uint32_t generation = 0;
    uint32_t write_seq = 0;  // when the get has been issued, another thread came between
    uint64_t insertions = 0;
    uint64_t stamp = 0;  // the shared cache's clock
    // miss: it would have hit, but the word is polled; a hash of what the cache has
    uint64_t polled = 0;
    Line line;    // miss
    Ahead ahead;  // miss: to be looked for by `look_ahead`, when the get has been issued
    uint64_t from_cache() const { return head + tail; }
  };
  // Where data may end at acquires: a hit that is about to be served quickly. True if it must not
  // be, as the program polls.
  [[gnu::always_inline]] bool polls(const Key& key) { return polls_.quick_hit_polls(word_of(key)); }
  // `request`: the get has a request of its own (MPI_Rget) and must not depend on another get's
  // completion. The cache has been made.
  Decision look_up(const RemoteGet& get, bool request);
  // The same where the caller has found the key to be absent (GetCache::find_hit).
  Decision look_up_absent(const RemoteGet& get);

  struct Issued {
    uint32_t record = no_record;  // no_record if nothing is to be kept
    Outcome outcome = Outcome::failing;
    bool told = false;     // `outcome` is news; that of a rest was told before
    bool crowded = false;  // there was no free room
  };
  // The get of a miss or a rest has been issued.
  Issued issued(const RemoteGet& asked, const Decision& decision);
  // The get of a miss that is so many places further, to be fetched as a line; none if its line has
  // no bytes. Then call `issued_ahead` or `rest_refused`.
  Decision look_ahead(const RemoteGet& get, const Decision& decision, uint32_t place);
  void issued_ahead(const RemoteGet& get, const Decision& ahead);
  // A get that bypassed the cache has been issued; one to a rank that is no target is not
  // outstanding anywhere.
  void passed(uint64_t bytes, Targets target);
  // The get of a rest or a line was refused: what went along for its head must not be written to.
  void rest_refused(const Decision& decision);

  bool adapt_is_due() const { return cache_ != nullptr && cache_->adapt_is_due(); }
  int adapt();  // returns how many sizes changed

  // --- Synchronisation. ---

  // What is about to be completed; taken before it is.
  struct Completion {
    Epochs::Sync sync;
    uint64_t up_to;  // serial of the last get that had been issued by then
  };
  // `local`: own writes complete at the origin only.
  Completion begin_sync(Targets targets, bool local);
  // If it failed nothing is complete: what was outstanding is, gets that wait for their data go on
  // waiting.
  void end_sync(const Completion& completion, bool succeeded);
  // No get waits to be stored, no synchronisation is under way: the short way of both.
  bool nothing_to_complete() const {
    return pending_of_all_.first == no_record && !epochs_.under_way();
  }
  void synced(Targets targets, bool local, bool succeeded) {
    if (targets.is_one() && !local && succeeded && epochs_.end_alone(targets.rank()))
      return settle_writes();
    epochs_.end(epochs_.begin(targets, local, Epochs::no_mark), succeeded);
    settle_writes();
  }

  // The get of a record that a request belongs to has arrived, or has failed. False if the record
  // is of another get by now.
  bool request_completed(uint32_t record, uint64_t serial, bool succeeded);
  void belongs_to_request(uint32_t record) { pending_[record].of_request = true; }
  uint64_t serial_of(uint32_t record) { return pending_[record].serial; }
  bool fetches_line(uint32_t record, uint64_t serial) {
    return is_of(record, serial) && pending_[record].buffer != nullptr;
  }
  uint32_t target_of(uint32_t record) { return pending_[record].target; }
  bool is_of(uint32_t record, uint64_t serial) {
    return record < pending_.size() && pending_[record].serial == serial;
  }

  // --- Own writes: of [from, to), before they are issued, and after. ---
  void write_begins(uint32_t target, int64_t from, int64_t to);
  void write_issued(uint32_t target) { epochs_.write_issued(target); }
  // After something was completed past this class (`Epochs`).
  void settle_writes() {
    if (shared_ != nullptr && cache_ != nullptr &&
        (cache_->writes().now() != settled_ || shared_->in_doubt()))
      note_completed_writes();
  }

  // Whether small gets may fetch lines, and read ahead.
  void allow_lines(bool allowed) { lines_allowed_ = allowed; }

  CacheCounts counts() const;
  uint64_t hits() const { return counts_.hits_full + counts_.hits_pending + counts_.hits_partial; }

 private:
  bool moves_data() const { return data_ == Data::moved; }
  void drop_cache();
  void update_generation() {
    if (!ends_at_acquires(rules_.mode)) return;
    if (shared_ != nullptr) return follow_acquires();
    if (versions_ != nullptr) limit_stamps();
    cache_->set_generation(acquires_->now());
  }
  void limit_stamps();
  // The shared cache's clock is the generation.
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
  // Of what was found for a get of a row of bytes.
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
  uint32_t add_waiter(uint32_t record, const Waiter& waiter);
  bool overlaps_outstanding_write(const RemoteGet& get) const;
  bool may_be_kept(const RemoteGet& get, const Decision& decision);
  uint32_t add_record(const RemoteGet& get, const Decision& decision);
  void inserted(uint32_t target);
  EntryId find_room(const RemoteGet& get, const Decision& decision, uint32_t record,
                    Issued* issued);
  void missed(const Decision& decision, Outcome outcome, Issued* issued);
  void complete(uint32_t record, bool succeeded);
  const std::byte* packed_data(const PendingGet& get);
  void take_data(const PendingGet& get, const std::byte* packed, bool succeeded);
  void serve_waiters(const PendingGet& get, const std::byte* packed, bool succeeded);
  void release(uint32_t record);

  // What a hit and its flush look at comes first.
  GetCache* cache_ = nullptr;
  Epochs epochs_;
  RecordPool<PendingGet>::List pending_of_all_;
  const Data data_;
  WindowShape shape_;
  CachingRules rules_;
  MemoryBudget* budget_;
  Acquires* acquires_;
  bool has_storage_ = false;  // the cache was made with storage
  bool lines_allowed_ = true;
  std::unique_ptr<Lines> lines_;  // made with the cache, where there may be some
  std::unique_ptr<Versions> versions_;
  std::unique_ptr<SharedCache> shared_;
  uint32_t acquired_ = 0;                // acquires at the last look at them
  bool wrote_unseen_ = false;            // own writes while there was no cache
  uint32_t settled_ = 0;                 // own writes that are known to be complete
  uint32_t settled_without_number_ = 0;  // of epochs_.completed_without_number()
  uint64_t floored_ = 0;                 // the shared cache's floor when stamps were last limited
  double latency_ns_ = 2000, ns_per_byte_ = 0.2;
  uint64_t stamped_ = 0;  // acquires at the last look at stamps
  uint64_t serials_ = 0;
  uint64_t insertions_ = 0;
  CacheCounts counts_;  // evictions and write drops: of caches that were dropped
  PollDetector polls_;
  RecordPool<PendingGet> pending_;
  std::vector<RecordPool<PendingGet>::List> pending_of_target_;
  RecordPool<Waiter> waiters_;
  std::vector<std::byte> scratch_;
  Region region_;
  Streams streams_;
  LineBuffers line_buffers_;
};

}  // namespace nearcache
