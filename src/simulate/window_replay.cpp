// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/window_replay.h"

#include <algorithm>

namespace nearcache::simulate {

double WindowResult::fill() const {
  if (fill_looks > 0) return fill_sum / static_cast<double>(fill_looks);
  return storage_bytes == 0
             ? 0
             : static_cast<double>(stored_bytes) / static_cast<double>(storage_bytes);
}

WindowResult& WindowResult::operator+=(const WindowResult& other) {
  for (const auto field :
       {&WindowResult::gets,          &WindowResult::bytes,          &WindowResult::own_gets,
        &WindowResult::hits_full,     &WindowResult::hits_pending,   &WindowResult::hits_partial,
        &WindowResult::hit_bytes,     &WindowResult::whole_bytes,    &WindowResult::direct,
        &WindowResult::conflicting,   &WindowResult::capacity,       &WindowResult::failing,
        &WindowResult::bypassed,      &WindowResult::evictions,      &WindowResult::invalidations,
        &WindowResult::adaptations,   &WindowResult::write_drops,    &WindowResult::hits_kept,
        &WindowResult::validations,   &WindowResult::hits_of_others, &WindowResult::storage_bytes,
        &WindowResult::index_entries, &WindowResult::stored_bytes,   &WindowResult::entries,
        &WindowResult::fill_looks}) {
    this->*field += other.*field;
  }
  fill_sum += other.fill_sum;
  return *this;
}

WindowReplay::WindowReplay(const TraceWindowInfo& info, const TargetNumbers& targets,
                           const WindowSettings& settings, uint64_t start_ns, Acquires* acquires,
                           MemoryBudget* budget)
    : info_(info),
      settings_(settings),
      targets_(targets),
      start_ns_(start_ns),
      acquires_(acquires),
      cached_({targets_.of(info.rank), targets_.count(), info.unit,
               static_cast<int64_t>(info.own_bytes)},
              settings.rules, budget, acquires, CachedWindow::Data::simulated) {
  keep_if_coherent();
}

// Like Window::understand. The bytes of a get are known only if all ranks have the same
// displacement unit.
RemoteGet WindowReplay::understand(const TraceEvent& event) const {
  RemoteGet get{};
  get.key = {event.displacement, targets_.of(event.target), event.layout};
  get.bytes = event.bytes;
  get.contiguous_target = event.layout == 0 && info_.unit != 0;
  get.from = info_.unit == 0 ? INT64_MIN : event.from;
  get.to = info_.unit == 0 ? INT64_MAX : event.to;
  // A trace does not say what a layout is, so layouts of different ranks count as different.
  if (const SharedCache* shared = cached_.shared(); shared != nullptr && event.layout != 0)
    get.key.layout = event.layout << 10 | (shared->rank() & 0x3ff);
  get.hash = hash_key(get.key);
  return get;
}

// Creates the cache if necessary. Requested sizes may exceed what a process may have, unless they
// adapt.
bool WindowReplay::ensure_cache() {
  if (cached_.has_cache()) return true;
  const GetCacheSettings& wanted = settings_.rules.cache;
  GetCache::Geometry growth{wanted.index_capacity, cached_.stores() ? wanted.storage_bytes : 0};
  if (wanted.tuner.adaptive)
    growth = cached_.growth_within(std::max(settings_.most_storage, wanted.storage_bytes));
  if (!cached_.make_cache(growth)) return false;
  cached_.set_costs(settings_.cost.latency_ns, settings_.cost.ns_per_byte);
  was_full_ = false;
  return true;
}

void WindowReplay::set_mode(Mode mode) {
  if (mode == this->mode()) return;
  kept_before_ = result().hits_kept;
  cached_.drop_at_acquires();
  cached_.set_mode(mode);
  keep_if_coherent();
}

void WindowReplay::keep_if_coherent() {
  if (mode() == Mode::coherent && settings_.versions != nullptr)
    cached_.keep_across_acquires(settings_.versions->regions());
}

// Like CoherentWindow::prepare.
void WindowReplay::validate(uint32_t target, uint32_t number, uint64_t now) {
  if (!acquires_->quiet || !cached_.wants_validation(number)) return;
  cached_.validated(number, settings_.versions->at(target, now));
  ++result_.validations;
}

// The id may be reused for another window, so nothing of this one may be left to complete.
void WindowReplay::free() {
  complete(Targets::all(), false);
  result();
  if (cached_.shared() != nullptr) cached_.invalidate();
  const Mode mode = this->mode();
  cached_.set_mode(Mode::off);
  cached_.set_mode(mode);
}

void WindowReplay::get(const TraceEvent& event) {
  if (event.target == info_.rank) {
    ++result_.own_gets;
    return;
  }
  const RemoteGet get = understand(event);
  if (get.key.target == TargetNumbers::none) return cached_.passed(get.bytes, Targets::none());
  if (mode() == Mode::off || get.bytes == 0 || cached_.never_cached(get) || !ensure_cache()) {
    return cached_.passed(get.bytes, Targets::one(get.key.target));
  }
  if (cached_.versions() != nullptr) validate(event.target, get.key.target, start_ns_ + event.ns);
  const CachedWindow::Decision decision = cached_.look_up(get, false);
  if (decision.answer != CachedWindow::Answer::served) return issue(get, decision);
  result_.whole_bytes += get.bytes;
}

// Records that the get, or what remains of it after a cached head, has been issued. Like
// Window::issued.
void WindowReplay::issue(const RemoteGet& get, const CachedWindow::Decision& decision) {
  if (cached_.adapt_is_due()) cached_.adapt();
  if (cached_.issued(get, decision).crowded) was_full_ = true;
  for (uint32_t place = 1; place <= decision.ahead.places; ++place) {
    const CachedWindow::Decision ahead = cached_.look_ahead(get, decision, place);
    if (ahead.line.bytes > 0) cached_.issued_ahead(get, ahead);
  }
  look_at_fill();
}

void WindowReplay::look_at_fill() {
  const GetCache& cache = *cached_.cache();
  if (!was_full_ || cache.storage_bytes() == 0) return;
  result_.fill_sum +=
      static_cast<double>(cache.stored_bytes()) / static_cast<double>(cache.storage_bytes());
  ++result_.fill_looks;
}

void WindowReplay::complete(Targets targets, bool local) {
  cached_.end_sync(cached_.begin_sync(targets, local), true);
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
      local = true;  // completes one get of many; most of those before it have arrived too
      break;
    default:
      return;  // opens an epoch, or concerns only other ranks' accesses
  }
  if (target < 0) return complete(Targets::all(), local);
  const uint32_t number = targets_.of(static_cast<uint32_t>(target));
  if (number != TargetNumbers::none) complete(Targets::one(number), local);
}

void WindowReplay::write(uint32_t target, int64_t from, int64_t to) {
  const uint32_t number = targets_.of(target);
  if (number == TargetNumbers::none) return;
  cached_.write_begins(number, from, to);
  cached_.write_issued(number);
}

const WindowResult& WindowReplay::result() {
  const CacheCounts counts = cached_.counts();
  result_.gets = counts.gets;
  result_.bytes = counts.bytes_requested;
  result_.hits_full = counts.hits_full;
  result_.hits_pending = counts.hits_pending;
  result_.hits_partial = counts.hits_partial;
  result_.hit_bytes = counts.bytes_from_cache;
  result_.direct = counts.direct;
  result_.conflicting = counts.conflicting;
  result_.capacity = counts.capacity;
  result_.failing = counts.failing;
  result_.bypassed = counts.bypassed;
  result_.evictions = counts.evictions;
  result_.invalidations = counts.invalidations;
  result_.adaptations = counts.adaptations;
  result_.write_drops = counts.write_drops;
  result_.hits_kept =
      kept_before_ + (cached_.versions() != nullptr ? cached_.versions()->kept() : 0);
  const GetCache* cache = cached_.cache();
  if (SharedCache* shared = cached_.shared(); shared != nullptr) {
    result_.hits_of_others = shared->hits_of_others();
    if (shared->rank() != 0) return result_;  // the first of its ranks reports the cache
    const SharedCache::Sizes sizes = shared->sizes();
    result_.storage_bytes = sizes.storage_bytes;
    result_.index_entries = sizes.index_entries;
    result_.stored_bytes = sizes.stored_bytes;
    result_.entries = sizes.entries;
    return result_;
  }
  if (cache == nullptr) return result_;
  result_.storage_bytes = cache->storage_bytes();
  result_.index_entries = cache->index_capacity();
  result_.stored_bytes = cache->stored_bytes();
  result_.entries = cache->entries();
  return result_;
}

}  // namespace nearcache::simulate
