#include "simulate/window_replay.h"

#include <algorithm>

namespace nearcache::simulate {

double WindowResult::fill() const {
  if (fill_looks > 0) return fill_sum / static_cast<double>(fill_looks);
  return storage_bytes == 0 ? 0 : static_cast<double>(stored_bytes) / static_cast<double>(storage_bytes);
}

WindowResult& WindowResult::operator+=(const WindowResult& other) {
  for (const auto field : {&WindowResult::gets, &WindowResult::bytes, &WindowResult::own_gets, &WindowResult::hits_full,
                           &WindowResult::hits_pending, &WindowResult::hits_partial, &WindowResult::hit_bytes,
                           &WindowResult::whole_bytes, &WindowResult::direct, &WindowResult::conflicting, &WindowResult::capacity,
                           &WindowResult::failing, &WindowResult::bypassed, &WindowResult::evictions, &WindowResult::invalidations,
                           &WindowResult::adaptations, &WindowResult::write_drops, &WindowResult::storage_bytes,
                           &WindowResult::index_entries, &WindowResult::stored_bytes, &WindowResult::entries,
                           &WindowResult::fill_looks}) {
    this->*field += other.*field;
  }
  fill_sum += other.fill_sum;
  return *this;
}

WindowReplay::WindowReplay(const TraceWindowInfo& info, const WindowSettings& settings, const uint32_t* acquires, MemoryBudget* budget)
    : info_(info), settings_(settings), acquires_(acquires), budget_(budget), mode_(settings.mode) {}

// As Window::understand: what the bytes are is known where all ranks have one displacement unit.
WindowReplay::Access WindowReplay::understand(const TraceEvent& get) const {
  Access access{};
  access.key = {get.displacement, get.target, get.layout};
  access.bytes = get.bytes;
  access.contiguous = get.layout == 0 && info_.unit != 0;
  access.from = info_.unit == 0 ? INT64_MIN : get.from;
  access.to = info_.unit == 0 ? INT64_MAX : get.to;
  access.hash = hash_key(access.key);
  return access;
}

bool WindowReplay::ensure_cache() {
  if (cache_ != nullptr) return true;
  GetCacheSettings wanted = settings_.cache;
  if (mode_ == Mode::transparent) wanted.storage_bytes = 0;
  GetCache::Geometry geometry{wanted.index_capacity, wanted.storage_bytes};
  if (wanted.tuner.adaptive) {
    const uint64_t limit = std::min(settings_.most_storage, uint64_t{UINT32_MAX} * granule_bytes / 2);
    geometry.most_storage = mode_ == Mode::transparent ? 0 : std::max(limit, wanted.storage_bytes);
    geometry.most_index = std::min<uint64_t>(std::max(limit / 128, wanted.index_capacity), uint64_t{1} << 28);
  }
  if (!region_.reserve(GetCache::region_bytes(geometry))) return false;
  const auto wants = [&wanted] { return GetCache::memory_for(wanted.index_capacity, wanted.storage_bytes); };
  while (!budget_->take(wants())) {
    if (wanted.index_capacity <= 16) return false;
    wanted.index_capacity /= 2;
    wanted.storage_bytes /= 2;
  }
  cache_ = GetCache::create(region_.base(), geometry, wanted);
  budget_->give_back(wants() - cache_->memory());  // storage is whole granules
  cache_->set_costs(settings_.cost.latency_ns, settings_.cost.ns_per_byte);
  was_full_ = false;
  for (auto& [rank, target] : targets_) target.writes_since = UINT32_MAX;  // no cache has recorded them
  update_generation();
  return true;
}

void WindowReplay::drop_cache() {
  for (Record& record : records_) record.entry = no_entry;
  if (cache_ == nullptr) return;
  evictions_before_ += cache_->evictions();
  write_drops_before_ += cache_->write_drops();
  budget_->give_back(cache_->memory());
  cache_ = nullptr;
  region_.release();
}

void WindowReplay::set_mode(Mode mode) {
  if (mode == mode_) return;
  result();
  drop_cache();
  mode_ = mode;
}

// The id may come back, as another window: nothing of this one may be left to complete.
void WindowReplay::free() {
  complete_all();
  targets_.clear();
  result();
  drop_cache();
}

void WindowReplay::invalidate() {
  if (cache_ == nullptr) return;
  if (!cache_->empty()) ++result_.invalidations;
  if (mode_ != Mode::transparent) cache_->invalidate();
}

void WindowReplay::get(const TraceEvent& get) {
  if (get.target == info_.rank) {
    ++result_.own_gets;
    return;
  }
  ++result_.gets;
  result_.bytes += get.bytes;
  if (mode_ == Mode::off || get.bytes == 0 || get.bytes > settings_.max_get || !ensure_cache()) {
    ++result_.bypassed;
    return;
  }
  const Access access = understand(get);
  update_generation();
  const GetCache::Lookup found = cache_->lookup(access.hash, access.key, access.bytes, access.from, access.to);
  switch (found.found) {
    case GetCache::Found::full:
      return count_hit(&result_.hits_full, access.bytes);
    case GetCache::Found::partial:
      return partial(access, found);
    case GetCache::Found::pending:
    case GetCache::Found::pending_partial:
      return join(access, found);
    case GetCache::Found::none:
      return issue(access, 0, no_entry);
  }
}

void WindowReplay::count_hit(uint64_t* kind, uint64_t bytes) {
  ++*kind;
  result_.hit_bytes += bytes;
  result_.whole_bytes += bytes;
}

// How much of a head may be used: the tail must begin at a whole displacement.
uint64_t WindowReplay::usable_head(const Access& access, uint64_t have) const {
  if (!access.contiguous || access.bytes - have > INT32_MAX) return 0;
  const int64_t past = (access.key.displacement + static_cast<int64_t>(have)) % info_.unit;
  const auto excess = static_cast<uint64_t>(past < 0 ? past + info_.unit : past);
  return have > excess ? have - excess : 0;
}

// Goes along with a get that is under way; if that one is shorter, the tail is fetched besides and not kept.
void WindowReplay::join(const Access& access, const GetCache::Lookup& found) {
  if (found.found == GetCache::Found::pending) return count_hit(&result_.hits_pending, access.bytes);
  const uint64_t head = usable_head(access, found.have);
  if (head == 0) {
    cache_->discard(found.entry);
    return issue(access, 0, no_entry);
  }
  ++result_.hits_partial;
  result_.hit_bytes += head;
  issue(access, head, no_entry);
}

void WindowReplay::partial(const Access& access, const GetCache::Lookup& found) {
  const uint64_t head = usable_head(access, found.have);
  if (head == 0) {
    cache_->discard(found.entry);
    return issue(access, 0, no_entry);
  }
  if (cache_->entry(found.entry).state == State::growing) {
    const Record& record = records_[found.token];
    if (record.start + record.bytes >= access.bytes) return count_hit(&result_.hits_pending, access.bytes);
    cache_->discard(found.entry);
    return issue(access, 0, no_entry);
  }
  ++result_.hits_partial;
  result_.hit_bytes += head;
  issue(access, head, found.entry);
}

bool WindowReplay::overlaps_outstanding_write(const Access& access) {
  const auto at = targets_.find(access.key.target);
  if (at == targets_.end() || !at->second.writes) return false;
  const uint32_t since = at->second.writes_since;
  return since == UINT32_MAX || cache_->writes().overwritten(access.key.target, access.from, access.to, since);
}

uint32_t WindowReplay::take_record() {
  if (free_records_.empty()) {
    records_.emplace_back();
    return static_cast<uint32_t>(records_.size() - 1);
  }
  const uint32_t at = free_records_.back();
  free_records_.pop_back();
  return at;
}

// The get, or what of it the first `head` bytes leave, has gone to the network: as Window::issued.
void WindowReplay::issue(const Access& access, uint64_t head, EntryId entry) {
  if (cache_->adapt_is_due()) result_.adaptations += static_cast<uint64_t>(cache_->adapt(budget_));
  update_generation();
  if (overlaps_outstanding_write(access)) {
    if (head == 0) ++result_.failing;
    return;
  }
  const uint32_t at = take_record();
  records_[at] = {no_entry, cache_->writes().now(), ++serials_, head, access.bytes - head};
  records_[at].entry = find_room(access, head, entry, at);
  if (records_[at].entry == no_entry) {
    free_records_.push_back(at);
  } else {
    targets_[access.key.target].pending.push_back(at);
  }
  look_at_fill();
}

EntryId WindowReplay::find_room(const Access& access, uint64_t head, EntryId entry, uint32_t record) {
  if (head > 0) {
    if (entry == no_entry || cache_->find(access.hash, access.key) != entry || cache_->entry(entry).size < head) return no_entry;
    return cache_->grow(access.hash, entry, access.bytes, record);
  }
  if (mode_ == Mode::transparent) {
    const EntryId bare = cache_->insert_bare(access.hash, access.key, access.bytes, record);
    ++(bare == no_entry ? result_.failing : result_.direct);
    return bare;
  }
  if (settings_.skip_cheap && !cache_->worth_storing(access.hash, access.bytes, hit_ns(1, access.bytes))) {
    cache_->remember(access.hash);
    ++result_.failing;
    return no_entry;
  }
  return store(access, record);
}

EntryId WindowReplay::store(const Access& access, uint32_t record) {
  const GetCache::Inserted inserted = cache_->insert(access.hash, access.key, access.bytes, record);
  switch (inserted.how) {
    case GetCache::Insert::direct:
      ++result_.direct;
      break;
    case GetCache::Insert::conflicting:
      ++result_.conflicting;
      break;
    case GetCache::Insert::capacity:
      ++result_.capacity;
      was_full_ = true;
      break;
    case GetCache::Insert::no_room:
    case GetCache::Insert::not_admitted:
      ++result_.failing;
      was_full_ = true;
      break;
  }
  return inserted.entry;
}

void WindowReplay::look_at_fill() {
  if (!was_full_ || cache_->storage_bytes() == 0) return;
  result_.fill_sum += static_cast<double>(cache_->stored_bytes()) / static_cast<double>(cache_->storage_bytes());
  ++result_.fill_looks;
}

void WindowReplay::complete(uint32_t at) {
  const Record& record = records_[at];
  if (record.entry != no_entry && cache_ != nullptr) {
    update_generation();
    if (cache_->keeps(record.entry)) {
      cache_->complete(record.entry, record.start + record.bytes, record.write_seq);
    } else {
      cache_->abandon(record.entry, record.write_seq);
    }
  }
  free_records_.push_back(at);
}

// Of all targets: in order of issue. None is pending afterwards.
void WindowReplay::complete_all() {
  std::vector<uint32_t> all;
  for (auto& [rank, target] : targets_) {
    all.insert(all.end(), target.pending.begin(), target.pending.end());
    target.pending.clear();
  }
  std::sort(all.begin(), all.end(), [this](uint32_t a, uint32_t b) { return records_[a].serial < records_[b].serial; });
  for (const uint32_t at : all) complete(at);
}

void WindowReplay::sync(TraceSync kind, int64_t target) {
  bool local = false;
  switch (kind) {
    case TraceSync::flush_local:
      local = true;
      break;
    case TraceSync::fence:
    case TraceSync::unlock:
    case TraceSync::unlock_all:
    case TraceSync::flush:
    case TraceSync::complete:
      break;
    case TraceSync::request:
      local = true;  // one get of many: those before it have mostly arrived too
      break;
    default:
      return;  // opens an epoch, or tells of other ranks' accesses only
  }
  if (target < 0) {
    complete_all();
    if (!local) return targets_.clear();
    std::erase_if(targets_, [](const auto& each) { return !each.second.writes; });
    return;
  }
  const auto at = targets_.find(static_cast<uint32_t>(target));
  if (at == targets_.end()) return;
  for (const uint32_t record : at->second.pending) complete(record);
  at->second.pending.clear();
  if (!local || !at->second.writes) targets_.erase(at);
}

void WindowReplay::write(uint32_t target, int64_t from, int64_t to) {
  Target& at = targets_[target];
  if (!at.writes) at.writes_since = cache_ == nullptr ? UINT32_MAX : cache_->writes().now();
  at.writes = true;
  if (cache_ != nullptr) cache_->record_write(target, from, to);
}

const WindowResult& WindowReplay::result() {
  result_.evictions = evictions_before_;
  result_.write_drops = write_drops_before_;
  if (cache_ == nullptr) return result_;
  result_.evictions += cache_->evictions();
  result_.write_drops += cache_->write_drops();
  result_.storage_bytes = cache_->storage_bytes();
  result_.index_entries = cache_->index_capacity();
  result_.stored_bytes = cache_->stored_bytes();
  result_.entries = cache_->entries();
  return result_;
}

}  // namespace nearcache::simulate
