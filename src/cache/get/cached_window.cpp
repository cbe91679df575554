// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/cached_window.h"

#include <algorithm>
#include <climits>
#include <string_view>

#include "base/copy.h"

namespace nearcache {
namespace {

// maximum number of entries with which a rank's own index begins if ranks share a cache
constexpr uint64_t most_first_index_shared = 4096;

Outcome outcome_of(GetCache::Insert how) {
  switch (how) {
    case GetCache::Insert::direct:
      return Outcome::direct;
    case GetCache::Insert::conflicting:
      return Outcome::conflicting;
    case GetCache::Insert::capacity:
      return Outcome::capacity;
    case GetCache::Insert::no_room:
    case GetCache::Insert::not_admitted:
      break;
  }
  return Outcome::failing;
}

// Returns a hash that is never 0.
uint64_t hash_bytes(const std::byte* data, uint64_t bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(data), bytes}) | 1;
}

}  // namespace

// --- Rules, and the life of the cache. ---

CachingRules::CachingRules(const Options& options)
    : mode(options.mode), max_get(options.max_get), skip_cheap(options.skip_cheap) {
  cache.policy = options.policy;
  cache.storage_bytes = options.storage;
  cache.index_capacity = options.index;
  cache.sample = static_cast<uint32_t>(options.sample);
  cache.anchors = static_cast<uint32_t>(options.anchors);
  cache.tuner.adaptive = options.adaptive;
  cache.tuner.interval = options.adapt_interval;
  cache.tuner.conflict_threshold = options.conflict_threshold;
  cache.tuner.capacity_threshold = options.capacity_threshold;
  cache.tuner.sparsity_threshold = options.sparsity_threshold;
  cache.tuner.stable_threshold = options.stable_threshold;
  cache.tuner.free_threshold = options.free_threshold;
  cache.tuner.index_increase = options.index_increase;
  cache.tuner.index_decrease = options.index_decrease;
  cache.tuner.storage_increase = options.storage_increase;
  cache.tuner.storage_decrease = options.storage_decrease;
}

bool CachingRules::same_cache(const CachingRules& other) const {
  return cache.policy == other.cache.policy && cache.storage_bytes == other.cache.storage_bytes &&
         cache.index_capacity == other.cache.index_capacity &&
         cache.tuner.adaptive == other.cache.tuner.adaptive && cache.sample == other.cache.sample &&
         cache.anchors == other.cache.anchors;
}

CachedWindow::CachedWindow(const WindowShape& shape, const CachingRules& rules,
                           MemoryBudget* budget, Acquires* acquires, Data data)
    : epochs_(shape.ranks),
      pending_(shape.ranks, data == Data::moved),
      data_(data),
      shape_(shape),
      rules_(rules),
      budget_(budget),
      acquires_(acquires) {}

void CachedWindow::set_mode(Mode mode) {
  if (mode == rules_.mode) return;
  drop_cache();
  wrote_unseen_ = true;  // there may have been writes while nothing was cached
  rules_.mode = mode;
}

void CachedWindow::set_rules(const CachingRules& rules) {
  if (!rules.same_cache(rules_) || rules.mode != rules_.mode) drop_cache();
  rules_ = rules;
}

void CachedWindow::invalidate() {
  if (cache_ == nullptr) {
    if (shared_ != nullptr) shared_->advance_floor();
    return;
  }
  if (!cache_->empty() || shared_ != nullptr) ++counts_.invalidations;
  if (shared_ != nullptr) return forget_shared();
  if (!ends_at_acquires(rules_.mode) || versions_ != nullptr) cache_->invalidate();
}

void CachedWindow::reset() {
  if (shared_ != nullptr) invalidate();
  if (cache_ != nullptr) cache_->reset();
  if (shared_ != nullptr) shared_->reset_counts();
  counts_ = CacheCounts();
}

GetCache::Geometry CachedWindow::growth_within(uint64_t limit) const {
  // Storage is addressed in granules by 32 bits; an entry that is worth an index slot has about 128
  // bytes.
  limit = std::min<uint64_t>(limit, uint64_t{UINT32_MAX} * granule_bytes / 2);
  return {std::min<uint64_t>(std::max(limit / 128, rules_.cache.index_capacity), uint64_t{1} << 28),
          stores() && shared_ == nullptr ? limit : 0};
}

bool CachedWindow::make_cache(const GetCache::Geometry& growth) {
  if (has_cache()) return true;
  drop_cache();
  has_storage_ = stores() && shared_ == nullptr;
  GetCacheSettings settings = rules_.cache;
  if (!has_storage_) settings.storage_bytes = 0;
  // only for gets in flight; it grows if there are more of them
  if (shared_ != nullptr && settings.tuner.adaptive)
    settings.index_capacity = std::min(settings.index_capacity, most_first_index_shared);
  settings.index_capacity = std::max<uint64_t>(settings.index_capacity, 1);
  settings.ranges = shape_.unit != 0;
  GetCache::Geometry geometry = growth;
  while (!region_.reserve(GetCache::region_bytes(geometry))) {
    geometry.most_storage /= 2;
    geometry.most_index /= 2;
    if (geometry.most_index < 16) return false;
  }
  settings.index_capacity =
      std::min(settings.index_capacity, std::max<uint64_t>(geometry.most_index, 1));
  settings.storage_bytes = std::min(settings.storage_bytes, geometry.most_storage);
  const auto wants = [&settings] {
    return GetCache::memory_for(settings.index_capacity, settings.storage_bytes);
  };
  while (!budget_->take(wants())) {
    if (settings.index_capacity <= 16) {
      region_.release();
      return false;
    }
    settings.index_capacity /= 2;
    settings.storage_bytes /= 2;
  }
  cache_ = GetCache::create(region_.base(), geometry, settings);
  lines_.reset(shape_.least_bytes > 0 && shape_.unit > 0 && (has_storage_ || shared_ != nullptr)
                   ? new Lines
                   : nullptr);
  budget_->give_back(wants() - cache_->memory());  // storage is in whole granules
  epochs_.forget_marks();                          // the cache has not seen what is outstanding
  if (shared_ != nullptr) {
    cache_->set_generation(static_cast<uint32_t>(shared_->floor()));
    begin_writes();
  }
  update_generation();
  if (versions_ != nullptr) {
    versions_->forget(cache_->generation());
    cache_->set_versions(versions_.get());
  }
  return true;
}

void CachedWindow::drop_cache() {
  if (cache_ == nullptr) return;
  // Gets in flight outlive the cache, and still serve those that wait for them.
  pending_.forget_entries();
  counts_.evictions += cache_->evictions();
  counts_.write_drops += cache_->write_drops();
  budget_->give_back(cache_->memory());
  cache_ = nullptr;
  wrote_unseen_ = true;
  region_.release();
}

void CachedWindow::keep_across_acquires(Regions regions) {
  if (cache_ != nullptr) update_generation();
  versions_ = std::make_unique<Versions>(shape_.ranks, regions,
                                         cache_ != nullptr ? cache_->generation() : 0);
  stamped_ = acquires_->all();
  if (cache_ != nullptr) cache_->set_versions(versions_.get());
}

void CachedWindow::drop_at_acquires() {
  if (cache_ != nullptr) cache_->set_versions(nullptr);
  versions_.reset();
}

// --- What the ranks of a node share. ---

// Clocks further apart than this are not compared by 32 bits (see also limit_stamps).
static constexpr uint64_t most_distance = uint64_t{1} << 30;

// Returns the clock after the words were read. Others may have advanced it far beyond this rank's
// floor.
uint32_t CachedWindow::clock_of_words() {
  const uint64_t clock = shared_->advance();
  if (clock - floored_ < 2 * most_distance) return static_cast<uint32_t>(clock);
  forget_shared();
  return static_cast<uint32_t>(shared_->floor());
}

void CachedWindow::advance_floor() {
  const uint64_t floor = shared_->advance_floor();
  cache_->set_generation(static_cast<uint32_t>(floor));
  if (versions_ == nullptr || floor - floored_ < most_distance) return;
  cache_->drop_older();
  forget_versions();
}

void CachedWindow::forget_shared() {
  advance_floor();
  if (versions_ != nullptr) forget_versions();
}

void CachedWindow::forget_versions() {
  floored_ = shared_->floor();
  versions_->forget(cache_->generation());
}

// Called when the cache has been made: earlier writes have no number in its log.
void CachedWindow::begin_writes() {
  settled_ = cache_->writes().now();
  settled_without_number_ = epochs_.completed_without_number();
  if (!wrote_unseen_) return;
  wrote_unseen_ = false;
  shared_->forget_writes();
  shared_->doubt(true);
  cache_->set_generation(static_cast<uint32_t>(shared_->floor()));
}

void CachedWindow::wrote_unnoted() {
  if (shared_ == nullptr) return;
  wrote_unseen_ = wrote_unseen_ || cache_ == nullptr;
  if (cache_ == nullptr) return;
  forget_shared();
  shared_->doubt(true);
}

// Called after a completion: finds out which own writes are complete. Writes without a number may
// have been to any bytes.
void CachedWindow::note_completed_writes() {
  const uint32_t now = cache_->writes().now();
  const uint32_t up_to = epochs_.complete_up_to(now);
  shared_->writes_completed(up_to, now);
  if (up_to == now) settled_ = now;
  if (!shared_->in_doubt()) return;
  if (settled_without_number_ != epochs_.completed_without_number()) {
    settled_without_number_ = epochs_.completed_without_number();
    forget_shared();
  }
  if (!epochs_.some_without_number()) shared_->doubt(false);
}

// Called if find_by_name() did not find the key.
bool CachedWindow::hit_shared_with_care(const Key& key, uint64_t hash, uint64_t bytes, void* to) {
  SharedCache::Found found;
  return shared_->find_with_care(hash, key, bytes, &found) && take_shared(found, key, bytes, to);
}

bool CachedWindow::is_for_us(const PublishedEntry::Said& said, int64_t from, int64_t to,
                             uint64_t bytes) {
  if (epochs_.writes_without_number(said.key.target)) return false;
  if (said.stamp < shared_->floor() &&
      (versions_ == nullptr || !kept_shared(said, from, to, bytes)))
    return false;
  if (!shared_->overwritten(said, from, to, cache_->writes())) return true;
  ++counts_.write_drops;
  return false;
}

// Mode coherent: returns true if data older than the floor may be served because its target's
// versions say that it has not changed. Stamps are compared by 32 bits, if they are not too far
// apart.
bool CachedWindow::kept_shared(const PublishedEntry::Said& said, int64_t from, int64_t to,
                               uint64_t bytes) {
  if (shared_->floor() - said.stamp >= most_distance || said.stamp < floored_) return false;
  if (said.key.layout != 0 && said.size > bytes) return false;
  return versions_->keeps(said.key.target, from, to, static_cast<uint32_t>(said.stamp),
                          cache_->generation());
}

// Polled words are fetched again, as in serve().
bool CachedWindow::serve_shared(const RemoteGet& get, Decision* decision) {
  SharedCache::Found found;
  if (!find_shared(get.key, get.hash, get.bytes, get.from, get.to, &found)) return false;
  const bool polled = looks_polled(get);
  if (moves_data()) {
    const bool direct = get.elements.layout->dense && !polled;
    std::byte* to = static_cast<std::byte*>(get.origin) + get.elements.first_offset();
    if (!direct) scratch_.resize(get.bytes), to = scratch_.data();
    if (!shared_->copy(found, get.bytes, to)) return false;
    if (polled) {
      *decision = miss();
      decision->polled = hash_bytes(to, get.bytes);
      return true;
    }
    if (!direct) unpack(to, get.bytes, get.origin, get.elements);
  }
  shared_->count_hit(found);
  if (get.contiguous_target && get.bytes <= Lines::most_get && lines_ != nullptr)
    lines_->used(found.said.key, get.from, cache_->generation());
  served(get.bytes);
  ++counts_.hits_full;
  decision->answer = Answer::served;
  decision->outcome = Outcome::full;
  return true;
}

// Publishes arrived data for all ranks, unless an own write may have intervened.
void CachedWindow::publish(const PendingGet& get, const std::byte* packed) {
  const Entry& entry = cache_->entry(get.entry);
  const Key key = entry.key();
  if ((entry.flags & flag_orphan) != 0 || get.stamp == 0 || !stores()) return;
  if (get.write_seq != cache_->writes().now() &&
      (key.layout != 0 || shape_.unit == 0 ||
       cache_->writes().overwritten(key.target, key.displacement,
                                    key.displacement + static_cast<int64_t>(get.bytes),
                                    get.write_seq)))
    return;
  if (packed == nullptr && moves_data()) {
    scratch_.resize(get.bytes);
    pack(get.origin, get.elements, get.bytes, scratch_.data());
    packed = scratch_.data();
  }
  Shard::Terms terms;
  terms.skip_cheap = rules_.skip_cheap;
  terms.copy_ns = hit_cost.cost_ns(get.bytes);
  terms.latency_ns = latency_ns_, terms.ns_per_byte = ns_per_byte_;
  const Shard::Stored stored =
      shared_->publish(key, hash_key(key), packed, get.bytes, get.stamp, terms);
  counts_.evictions += stored.evicted;
  counts_.adaptations += static_cast<uint64_t>(stored.adapted);
}

void CachedWindow::set_costs(double latency_ns, double ns_per_byte) {
  latency_ns_ = latency_ns, ns_per_byte_ = ns_per_byte;
  if (cache_ != nullptr) cache_->set_costs(latency_ns, ns_per_byte);
}

// Stamps wrap after 2^32: entries are dropped long before an old stamp could be taken for a later
// one.
void CachedWindow::limit_stamps() {
  if (acquires_->all() - stamped_ < most_distance) return;
  stamped_ = acquires_->all();
  cache_->set_generation(acquires_->now());
  cache_->drop_older();
  versions_->forget(cache_->generation());
}

int CachedWindow::adapt() {
  const int changes = cache_->adapt(budget_);
  counts_.adaptations += static_cast<uint64_t>(changes);
  return changes;
}

CacheCounts CachedWindow::counts() const {
  CacheCounts counts = counts_;
  if (cache_ == nullptr) return counts;
  counts.evictions += cache_->evictions();
  counts.write_drops += cache_->write_drops();
  return counts;
}

// --- How a get is answered. ---

void CachedWindow::passed(uint64_t bytes, Targets target) {
  ++counts_.gets;
  ++counts_.bypassed;
  counts_.bytes_requested += bytes;
  counts_.bytes_from_network += bytes;
  if (target.is_one()) epochs_.get_issued(target.rank());
}

CachedWindow::Decision CachedWindow::look_up(const RemoteGet& get, bool request) {
  update_generation();
  if (shared_ != nullptr && takes_from_others(get.key.target)) {
    Decision decision;
    if (serve_shared(get, &decision)) return decision;
  }
  const GetCache::Lookup found = cache_->lookup(get.hash, get.key, get.bytes, get.from, get.to);
  switch (found.found) {
    case GetCache::Found::full:
      return serve(get, found.entry, 0);
    case GetCache::Found::partial:
    case GetCache::Found::pending_partial:
      if (get.contiguous_target) {
        const GetCache::Overlap overlap = cache_->overlap(get.key, get.bytes);
        if (overlap.found == GetCache::Found::full) return serve_overlap(get, overlap);
      }
      if (found.found == GetCache::Found::partial)
        return request ? Decision() : partial(get, found);
      [[fallthrough]];
    case GetCache::Found::pending:
      // A request and another get must not depend on each other: each is completed by calls of its
      // own, and may fail by itself.
      return may_join(found.token, request) ? join(get, found) : Decision();
    case GetCache::Found::none:
      break;
  }
  return no_exact_hit(get, request);
}

CachedWindow::Decision CachedWindow::look_up_absent(const RemoteGet& get) {
  cache_->looked_up_absent(get.bytes);
  return no_exact_hit(get, false);
}

// Entries that begin elsewhere may have the bytes.
CachedWindow::Decision CachedWindow::no_exact_hit(const RemoteGet& get, bool request) {
  bool small = lines_ != nullptr && may_fetch_more() && get.bytes <= Lines::most_get &&
               get.contiguous_target;
  const GetCache::Overlap overlap =
      get.contiguous_target ? cache_->overlap(get.key, get.bytes) : GetCache::Overlap();
  switch (overlap.found) {
    case GetCache::Found::full:
      return serve_overlap(get, overlap);
    case GetCache::Found::pending:
      small = false;  // it is being fetched, but not for this get
      if (!may_join(overlap.token, request)) break;
      note_use(get, overlap.entry);
      return serve_pending(get, overlap.token,
                           {no_record, get.origin, get.elements, overlap.offset, get.bytes});
    case GetCache::Found::partial:
      if (request ||
          (small && lines_->length() > get.bytes && overlap.head + overlap.tail < get.bytes))
        break;
      return serve_parts(get, overlap);
    case GetCache::Found::pending_partial:
    case GetCache::Found::none:
      break;
  }
  polls_.miss();
  return small ? small_miss(get, request, overlap.head > 0) : miss();
}

// Fetches a line instead of the requested bytes if lines have been found to pay: a longer one in a
// stream. For strides, also fetches the next places.
CachedWindow::Decision CachedWindow::small_miss(const RemoteGet& get, bool request, bool has_head) {
  Decision decision = miss();
  lines_->missed(get.key.target, get.from, cache_->generation());
  if (!lines_allowed_) return decision;
  if (lines_->length() > get.bytes) {
    cache_->expect_overlaps();
    decision.line = line_around(get, has_head);
    if (!may_fetch(get, &decision.line)) decision.line = {};
  }
  if (get.from < 0 || get.to > shape_.least_bytes) return decision;
  const Ahead ahead = streams_.missed(get.key.target, get.from);
  if (!request) decision.ahead = ahead;  // the wait for a request would not complete them
  return decision;
}

// Returns true if the line is longer than the get and does not cross own writes in flight; takes a
// buffer for it.
bool CachedWindow::may_fetch(const RemoteGet& get, Line* line) {
  if (line->bytes <= get.bytes || overlaps_outstanding_write(get_of(get, *line))) return false;
  return !moves_data() || (line->buffer = line_buffers_.take(line->bytes)) != nullptr;
}

// Returns the line around a get: within what every rank's window holds, beginning at a whole
// displacement.
CachedWindow::Line CachedWindow::line_around(const RemoteGet& get, bool has_head) {
  if (get.from < 0 || get.to > shape_.least_bytes || get.from % shape_.unit != 0) return {};
  const auto length = static_cast<int64_t>(lines_->length());
  int64_t from = get.from / length * length;
  int64_t to = from + length;
  if (to < get.to) {  // spans two lines: fetch the one that is missing
    from = has_head ? get.from : from;
    to = has_head ? to + length : get.to;
  }
  if (const int64_t past = from % shape_.unit; past != 0) from += shape_.unit - past;
  to = streams_.line(get.key.target, from, to);
  return {from, static_cast<uint64_t>(std::min(to, shape_.least_bytes) - from), nullptr};
}

// Returns no line if some of it is cached or in flight already.
CachedWindow::Decision CachedWindow::look_ahead(const RemoteGet& get, const Decision& decision,
                                                uint32_t place) {
  if (cache_ == nullptr || !may_fetch_more()) return {};
  const bool line = decision.line.bytes > 0;
  const int64_t from =
      (line ? decision.line.from : get.from) + decision.ahead.stride * static_cast<int64_t>(place);
  const auto bytes = static_cast<int64_t>(line ? decision.line.bytes : get.bytes);
  const int64_t last = std::min(from + bytes, shape_.least_bytes);
  if (from < 0 || from >= last || from % shape_.unit != 0) return {};
  Decision ahead = miss();
  ahead.line = {from, static_cast<uint64_t>(last - from), nullptr};
  const RemoteGet there = get_of(get, ahead.line);
  SharedCache::Found found;
  if (shared_ != nullptr && takes_from_others(there.key.target) &&
      find_shared(there.key, there.hash, there.bytes, there.from, there.to, &found))
    return {};
  if (cache_->find(there.hash, there.key) != no_entry ||
      cache_->overlap(there.key, there.bytes).found != GetCache::Found::none ||
      overlaps_outstanding_write(there))
    return {};
  if (moves_data() && (ahead.line.buffer = line_buffers_.take(ahead.line.bytes)) == nullptr)
    return {};
  return ahead;
}

void CachedWindow::issued_ahead(const RemoteGet& get, const Decision& ahead) {
  const RemoteGet there = get_of(get, ahead.line);
  epochs_.get_issued(there.key.target);
  counts_.bytes_from_network += there.bytes;
  // needed in any case: the buffer is in use until the data has arrived
  const uint32_t record = add_record(there, ahead);
  if (cache_ == nullptr || !stores() || !may_be_kept(there, ahead) ||
      cache_->find(there.hash, there.key) != no_entry)
    return;
  const EntryId entry = shared_ != nullptr
                            ? cache_->insert_bare(there.hash, there.key, there.bytes, record)
                            : cache_->insert(there.hash, there.key, there.bytes, record).entry;
  pending_[record].entry = entry;
  if (entry != no_entry) inserted(there.key.target);
}

RemoteGet CachedWindow::get_of(const RemoteGet& get, const Line& line) {
  RemoteGet all{};
  all.key = {line.from, get.key.target, 0};
  all.hash = hash_key(all.key);
  all.bytes = line.bytes;
  all.from = line.from;
  all.to = line.from + static_cast<int64_t>(line.bytes);
  all.contiguous_target = true;
  all.origin = line.buffer;
  all.elements = {&byte_layout(), line.bytes};
  return all;
}

// Notes that a part of an entry, possibly a line, was requested. Returns true if further uses tell
// nothing new.
bool CachedWindow::note_use(const RemoteGet& get, EntryId entry) {
  return lines_ == nullptr || get.bytes > Lines::most_get ||
         lines_->used(cache_->entry(entry).key(), get.from, cache_->generation());
}

static void deliver(const RemoteGet& get, const std::byte* data) {
  if (get.elements.layout->dense) {
    copy_bytes(static_cast<std::byte*>(get.origin) + get.elements.first_offset(), data, get.bytes);
  } else {
    unpack(data, get.bytes, get.origin, get.elements);
  }
}

// A heuristic without a guarantee: a program that reads a few words over and over is waiting for
// them to change, even though the standard does not allow that.
bool CachedWindow::looks_polled(const RemoteGet& get) {
  if (!ends_at_acquires(rules_.mode)) return false;
  if (polls_.time_to_look()) return polls_.look();
  polls_.slow_hit(word_of(get.key));
  return false;
}

CachedWindow::Decision CachedWindow::fetch_again(const RemoteGet& get, EntryId entry,
                                                 uint64_t offset) {
  Decision decision = miss();
  if (moves_data()) decision.polled = hash_bytes(cache_->data(entry) + offset, get.bytes);
  cache_->discard(entry);
  return decision;
}

// If the value differs from the one that was served, the program learns of a write, and perhaps by
// it of others.
void CachedWindow::compare(const PendingGet& get, const std::byte* packed) {
  if (packed != nullptr && hash_bytes(packed, get.bytes) != get.polled) acquires_->add(true);
}

CachedWindow::Decision CachedWindow::serve(const RemoteGet& get, EntryId entry, uint64_t offset) {
  if (looks_polled(get)) return fetch_again(get, entry, offset);
  served(get.bytes);
  ++counts_.hits_full;
  if (moves_data()) deliver(get, cache_->data(entry) + offset);
  Decision decision;
  decision.answer = Answer::served;
  decision.outcome = Outcome::full;
  return decision;
}

CachedWindow::Decision CachedWindow::serve_overlap(const RemoteGet& get,
                                                   const GetCache::Overlap& overlap) {
  cache_->count_overlap(overlap.entry);
  if (note_use(get, overlap.entry)) cache_->note_part(get.key, overlap.entry);
  return serve(get, overlap.entry, overlap.offset);
}

// The get is served by the get of `record`; `waiter` tells which part of that goes where.
CachedWindow::Decision CachedWindow::serve_pending(const RemoteGet& get, uint32_t record,
                                                   const Waiter& waiter) {
  served(get.bytes);
  ++counts_.hits_pending;
  pending_.add_waiter(record, waiter);
  Decision decision;
  decision.answer = Answer::served;
  decision.outcome = Outcome::pending;
  return decision;
}

// Returns how much of a head may be used: the tail must begin at a whole displacement and be
// contiguous at the origin.
uint64_t CachedWindow::usable_head(const RemoteGet& get, uint64_t have) const {
  if (!get.contiguous_target || !in_one_run(get)) return 0;
  const int64_t past = (get.key.displacement + static_cast<int64_t>(have)) % shape_.unit;
  const auto excess = static_cast<uint64_t>(past < 0 ? past + shape_.unit : past);
  const uint64_t head = have > excess ? have - excess : 0;
  return get.bytes - head > INT_MAX ? 0 : head;
}

// The get waits for one that is in flight. If that one is shorter, only the tail is fetched.
CachedWindow::Decision CachedWindow::join(const RemoteGet& get, const GetCache::Lookup& found) {
  if (found.found == GetCache::Found::pending)
    return serve_pending(get, found.token, {no_record, get.origin, get.elements, 0, get.bytes});
  const uint64_t head = usable_head(get, found.have);
  if (head == 0) {
    cache_->discard(found.entry);
    return miss();
  }
  Decision decision = miss();
  decision.answer = Answer::rest;
  decision.outcome = Outcome::partial;
  decision.head = head;
  decision.record = found.token;
  decision.serial = pending_[found.token].serial;
  decision.waiter =
      pending_.add_waiter(found.token, {no_record, get.origin, get.elements, 0, head});
  return decision;
}

CachedWindow::Decision CachedWindow::partial(const RemoteGet& get, const GetCache::Lookup& found) {
  const uint64_t head = usable_head(get, found.have);
  if (head == 0) {
    cache_->discard(found.entry);
    return miss();
  }
  std::byte* to =
      moves_data() ? static_cast<std::byte*>(get.origin) + get.elements.first_offset() : nullptr;
  // A repeat of a get whose tail is in flight waits for that tail.
  if (cache_->entry(found.entry).state == State::growing) {
    const PendingGet tail = pending_[found.token];
    if (tail.start + tail.bytes < get.bytes) {
      cache_->discard(found.entry);
      return miss();
    }
    if (moves_data()) copy_bytes(to, cache_->data(found.entry), tail.start);
    const uint64_t rest = get.bytes - tail.start;
    return serve_pending(
        get, found.token,
        {no_record, moves_data() ? to + tail.start : nullptr, {&byte_layout(), rest}, 0, rest});
  }
  if (moves_data()) copy_bytes(to, cache_->data(found.entry), head);
  Decision decision = miss();
  decision.answer = Answer::rest;
  decision.outcome = Outcome::partial;
  decision.head = head;
  decision.entry = found.entry;
  return decision;
}

// The get begins where no entry does: its head, its tail or both are copied. All of it is kept when
// the rest has arrived.
CachedWindow::Decision CachedWindow::serve_parts(const RemoteGet& get,
                                                 const GetCache::Overlap& overlap) {
  if (!in_one_run(get)) return miss();
  std::byte* to =
      moves_data() ? static_cast<std::byte*>(get.origin) + get.elements.first_offset() : nullptr;
  const bool all = overlap.head + overlap.tail >= get.bytes;
  const uint64_t head = all ? overlap.head : usable_head(get, overlap.head);
  const uint64_t tail = all ? get.bytes - head : overlap.tail;
  const uint64_t rest = get.bytes - head - tail;
  if (head + tail == 0 || rest > INT_MAX ||
      (get.key.displacement + static_cast<int64_t>(head)) % shape_.unit != 0)
    return miss();
  if (head > 0) {
    cache_->count_overlap(overlap.entry);
    if (moves_data()) copy_bytes(to, cache_->data(overlap.entry) + overlap.offset, head);
  }
  if (tail > 0) {
    cache_->count_overlap(overlap.last_entry);
    if (moves_data())
      copy_bytes(to + (get.bytes - tail), cache_->data(overlap.last_entry) + (overlap.tail - tail),
                 tail);
  }
  Decision decision = miss();
  if (all) {
    served(get.bytes);
    ++counts_.hits_full;
    decision.answer = Answer::served;
    decision.outcome = Outcome::full;
    return decision;
  }
  decision.answer = Answer::rest;
  decision.outcome = Outcome::partial;
  decision.head = head;
  decision.tail = tail;
  decision.whole = true;
  return decision;
}

CachedWindow::Decision CachedWindow::miss() const {
  Decision decision;
  decision.answer = Answer::miss;
  decision.generation = cache_->generation();
  decision.write_seq = cache_->writes().now();
  decision.insertions = insertions_;
  if (shared_ != nullptr) decision.stamp = shared_->clock();
  return decision;
}

void CachedWindow::rest_refused(const Decision& decision) {
  if (decision.line.buffer != nullptr)
    line_buffers_.give_back(decision.line.buffer, decision.line.bytes);
  if (pending_.is_of(decision.record, decision.serial))
    pending_.remove_waiter(decision.record, decision.waiter);
}

// --- What is kept of an issued get. ---

// MPI leaves a get that overlaps an own put of the same epoch undefined, so it must not be kept.
bool CachedWindow::overlaps_outstanding_write(const RemoteGet& get) const {
  const uint32_t target = get.key.target;
  if (!epochs_.writes_outstanding(target)) return false;
  const uint32_t since = epochs_.mark(target);
  return since == Epochs::no_mark || cache_->writes().overwritten(target, get.from, get.to, since);
}

// Counts a get that was fetched, by what became of its entry. One that was served in part has
// already been counted.
void CachedWindow::missed(const Decision& decision, Outcome outcome, Issued* issued) {
  issued->outcome = outcome;
  if (decision.answer == Answer::rest) return;
  issued->told = true;
  switch (outcome) {
    case Outcome::direct:
      ++counts_.direct;
      break;
    case Outcome::conflicting:
      ++counts_.conflicting;
      break;
    case Outcome::capacity:
      ++counts_.capacity;
      break;
    default:
      ++counts_.failing;
      break;
  }
}

// A line for which there is no room in storage can still be found while it is in flight: it was
// fetched for its neighbours, which are often requested before it is complete.
EntryId CachedWindow::find_room(const RemoteGet& get, const Decision& decision, uint32_t record,
                                Issued* issued) {
  if (decision.answer == Answer::rest && !decision.whole) {
    if (decision.entry == no_entry || cache_->find(get.hash, get.key) != decision.entry)
      return no_entry;
    // no longer the entry of the decision
    if (cache_->entry(decision.entry).size < decision.head) return no_entry;
    return cache_->grow(get.hash, decision.entry, get.bytes, record);
  }
  if (decision.line.bytes > 0) {
    const EntryId shorter = cache_->find(get.hash, get.key);
    if (shorter != no_entry) cache_->discard(shorter);
  }
  // Another thread may have inserted an entry of this name in the meantime.
  if (insertions_ != decision.insertions && cache_->find(get.hash, get.key) != no_entry) {
    missed(decision, Outcome::failing, issued);
    return no_entry;
  }
  if (!stores() || shared_ != nullptr) {
    const EntryId entry = shared_ != nullptr
                              ? cache_->insert_bare_unlisted(get.key, get.bytes, record)
                              : cache_->insert_bare(get.hash, get.key, get.bytes, record);
    missed(decision, entry == no_entry ? Outcome::failing : Outcome::direct, issued);
    return entry;
  }
  EntryId entry = no_entry;
  if (rules_.skip_cheap &&
      !cache_->worth_storing(get.hash, get.bytes, hit_cost.cost_ns(get.bytes))) {
    cache_->remember(get.hash);
    missed(decision, Outcome::failing, issued);
  } else {
    const bool due = decision.line.bytes > 0 && lines_ != nullptr && lines_->due();
    const GetCache::Inserted inserted = cache_->insert(get.hash, get.key, get.bytes, record, due);
    entry = inserted.entry;
    missed(decision, outcome_of(inserted.how), issued);
    issued->crowded = issued->outcome == Outcome::capacity || issued->outcome == Outcome::failing;
  }
  if (entry != no_entry || decision.line.bytes == 0) return entry;
  return cache_->insert_bare(get.hash, get.key, get.bytes, record);
}

// Returns false if another thread's synchronisation or write intervened: what was fetched may be
// older than that.
bool CachedWindow::may_be_kept(const RemoteGet& get, const Decision& decision) {
  update_generation();
  const bool overtaken =
      cache_->generation() != decision.generation || cache_->writes().now() != decision.write_seq;
  return !overtaken && !overlaps_outstanding_write(get);
}

uint32_t CachedWindow::add_record(const RemoteGet& get, const Decision& decision) {
  PendingGet record;
  record.target = get.key.target;
  record.write_seq = decision.write_seq;
  record.origin = get.origin;
  record.elements = get.elements;
  record.bytes = get.bytes;
  record.polled = decision.polled;
  record.stamp = decision.stamp;
  record.buffer = decision.line.buffer;
  if (decision.answer == Answer::rest && !decision.whole) {
    // Its bytes follow the head, and are contiguous at the origin.
    record.bytes = get.bytes - decision.head;
    record.start = decision.head;
    if (moves_data()) record.origin = static_cast<std::byte*>(get.origin) + decision.head;
  }
  return pending_.add(record);
}

void CachedWindow::inserted(uint32_t target) {
  ++insertions_;
  if (versions_ != nullptr) versions_->fetched(target, cache_->generation());
}

CachedWindow::Issued CachedWindow::issued(const RemoteGet& asked, const Decision& decision) {
  Issued issued;
  const bool line = decision.line.bytes > 0;
  RemoteGet of_line;
  if (line) of_line = get_of(asked, decision.line);
  const RemoteGet& get = line ? of_line : asked;
  epochs_.get_issued(get.key.target);
  ++counts_.gets;
  counts_.bytes_requested += asked.bytes;
  counts_.bytes_from_cache += decision.from_cache();
  counts_.bytes_from_network += get.bytes - decision.from_cache();
  if (decision.answer == Answer::rest) ++counts_.hits_partial;
  if (cache_ == nullptr && !line) return issued;
  if (!line && !may_be_kept(get, decision)) {
    missed(decision, Outcome::failing, &issued);
    return issued;
  }
  const uint32_t record = add_record(get, decision);
  if (line)
    pending_.add_waiter(record, {no_record, asked.origin, asked.elements,
                                 static_cast<uint64_t>(asked.from - get.from), asked.bytes});
  EntryId entry = no_entry;
  if (line && (cache_ == nullptr || !may_be_kept(get, decision))) {
    missed(decision, Outcome::failing, &issued);
  } else {
    entry = find_room(get, decision, record, &issued);
  }
  if (entry == no_entry && !line && decision.polled == 0) {
    release(record);
    return issued;
  }
  if (entry != no_entry) {
    inserted(get.key.target);
    if (line && lines_ != nullptr && stores())
      lines_->fetched(get.key, asked.from, cache_->generation());
  }
  pending_[record].entry = entry;
  issued.record = record;
  return issued;
}

// --- Synchronisation. ---

// Records of gets stay in their lists until the synchronisation has returned, since another
// thread's synchronisation may return first.
CachedWindow::Completion CachedWindow::begin_sync(Targets targets, bool local) {
  return {
      epochs_.begin(targets, local, cache_ == nullptr ? Epochs::no_mark : cache_->writes().now()),
      pending_.last_serial()};
}

void CachedWindow::end_sync(const Completion& completion, bool succeeded) {
  epochs_.end(completion.sync, succeeded);
  const Targets targets = completion.sync.targets;
  if (!succeeded || targets.is_none()) return;
  for (uint32_t at; (at = pending_.first(targets, completion.up_to)) != no_record;)
    complete(at, true);
  settle_writes();
}

bool CachedWindow::request_completed(uint32_t record, uint64_t serial, bool succeeded) {
  if (!pending_.is_of(record, serial)) return false;
  complete(record, succeeded);
  return true;
}

// The data of a get has arrived at the origin: stores it, and copies it to the gets that wait for
// it.
void CachedWindow::complete(uint32_t record, bool succeeded) {
  const PendingGet get = pending_[record];
  // If the wait for a line failed because of another get, the program may still know that its own
  // get has arrived. The line is therefore delivered as it is.
  const bool delivers = succeeded || get.buffer != nullptr;
  const std::byte* packed = moves_data() && delivers ? packed_data(get) : nullptr;
  if (get.polled != 0) compare(get, packed);
  if (get.entry != no_entry && cache_ != nullptr) take_data(get, packed, succeeded);
  pending_.take_waiters(record, [&](const Waiter& waiter) {
    if (delivers) unpack(packed + waiter.start, waiter.bytes, waiter.origin, waiter.elements);
  });
  release(record);
}

// Returns the arrived bytes if they are contiguous, packing them if anyone but the storage needs
// them; otherwise null.
const std::byte* CachedWindow::packed_data(const PendingGet& get) {
  if (get.elements.contiguous() || get.start > 0)
    return static_cast<const std::byte*>(get.origin) + get.elements.first_offset();
  if (get.waiters == no_record && get.polled == 0) return nullptr;
  scratch_.resize(get.bytes);
  pack(get.origin, get.elements, get.bytes, scratch_.data());
  return scratch_.data();
}

void CachedWindow::take_data(const PendingGet& get, const std::byte* packed, bool succeeded) {
  update_generation();
  if (shared_ != nullptr && succeeded) publish(get, packed);
  if (!succeeded || !cache_->keeps(get.entry)) return cache_->abandon(get.entry, get.write_seq);
  std::byte* storage = cache_->data(get.entry) + get.start;
  if (packed != nullptr) {
    cache_->store(storage, packed, get.bytes);
  } else if (moves_data()) {
    pack(get.origin, get.elements, get.bytes, storage);
  }
  cache_->complete(get.entry, get.start + get.bytes, get.write_seq);
}

void CachedWindow::release(uint32_t record) {
  const PendingGet& get = pending_[record];
  if (get.buffer != nullptr) line_buffers_.give_back(get.buffer, get.bytes);
  pending_.remove(record);
}

// --- Own writes. ---

void CachedWindow::write_begins(uint32_t target, int64_t from, int64_t to) {
  epochs_.write_begins(target, cache_ == nullptr ? Epochs::no_mark : cache_->writes().now());
  if (shared_ != nullptr && cache_ == nullptr) wrote_unseen_ = true;
  if (from == to || cache_ == nullptr) return;
  if (!cache_->record_write(target, from, to)) [[unlikely]] {
    epochs_.forget_marks();
    if (shared_ != nullptr) wrote_unnoted(), shared_->forget_writes();
  }
  if (shared_ != nullptr) shared_->write_begins();
}

}  // namespace nearcache
