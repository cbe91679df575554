// The way of one get through a window: what the cache answers, and what is kept of a get that was issued.
#include <climits>

#include "base/clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

static bool on_host(const GetCall& call, const Elements& origin) {
  return context.devices.is_host(static_cast<const std::byte*>(call.origin) + origin.lowest(), static_cast<uint64_t>(origin.highest() - origin.lowest()));
}

// Everything the cache must know of the call. False where only MPI can say what it means, or that it is wrong.
bool Window::understand(const GetCall& call, Access* access) const {
  if (call.origin_count < 0 || call.target_count < 0) return false;
  const Layout* origin = layout_of(call.origin_type);
  const Layout* target = call.target_type == call.origin_type ? origin : layout_of(call.target_type);
  if (origin == nullptr || target == nullptr) return false;
  access->origin = {origin, static_cast<uint64_t>(call.origin_count)};
  const Elements there{target, static_cast<uint64_t>(call.target_count)};
  if (__builtin_mul_overflow(origin->size, access->origin.count, &access->bytes)) access->bytes = 0;
  uint64_t bytes_there = 0;
  if (__builtin_mul_overflow(target->size, there.count, &bytes_there)) return false;
  if (access->bytes == 0 || access->bytes != bytes_there) return false;
  if (context.devices.present() && !on_host(call, access->origin)) return false;
  access->key.target = static_cast<uint32_t>(call.target);
  const bool contiguous = there.contiguous();
  if (identity_.unit == 0) {
    // Where displacement units differ between ranks the byte is not known, but the same call means the same bytes.
    access->key.displacement = call.displacement;
    access->key.layout = contiguous && there.first_offset() == 0 ? 0 : target->id;
    access->from = INT64_MIN;
    access->to = INT64_MAX;
    access->contiguous_target = false;
  } else {
    int64_t start = 0;
    if (__builtin_mul_overflow(static_cast<int64_t>(call.displacement), identity_.unit, &start)) return false;
    if (__builtin_add_overflow(start, there.lowest(), &access->from) || __builtin_add_overflow(start, there.highest(), &access->to)) return false;
    access->key.displacement = contiguous ? start + there.first_offset() : start;
    access->key.layout = contiguous ? 0 : target->id;
    if (contiguous) {
      access->from = access->key.displacement;
      access->to = access->from + static_cast<int64_t>(access->bytes);
    }
    access->contiguous_target = contiguous;
  }
  access->hash = hash_key(access->key);
  return true;
}

// 0 where it cannot be known.
uint64_t Window::bytes_of(const GetCall& call) {
  const Layout* origin = call.origin_count < 0 ? nullptr : layout_of(call.origin_type);
  uint64_t bytes = 0;
  if (origin == nullptr || __builtin_mul_overflow(origin->size, static_cast<uint64_t>(call.origin_count), &bytes)) return 0;
  return bytes;
}

bool Window::bypassed(const Access& access) {
  if (access.key.target == static_cast<uint32_t>(identity_.rank) || access.bytes > options_.max_get) return true;
  return (cheap_sizes_[is_far(access.key.target)] >> CostModel::class_of(access.bytes) & 1) != 0;
}

Window::Decision Window::pass(const Access& access) {
  observe(TraceOutcome::bypassed, access, 0);
  Decision decision{};
  decision.answer = Answer::pass;
  decision.access = access;
  // Now and then a passed get is measured, since a target that is cheap now need not stay so.
  if (--passed_until_look_ == 0) {
    passed_until_look_ = context.observer.tracing() ? 64 : 1 << 16;
    decision.sampled = sample_.target < 0 && access.bytes > 0;
  }
  return decision;
}

static bool of_predefined_types(const GetCall& call) {
  return named_types.find(call.origin_type) != nullptr && named_types.find(call.target_type) != nullptr;
}

// The get goes past the cache, and MPI has taken it.
void Window::passed(const GetCall& call, const Decision& decision) {
  ++counters_.gets;
  ++counters_.bypassed;
  counters_.bytes_requested += decision.access.bytes;
  counters_.bytes_from_network += decision.access.bytes;
  if (!valid_target(call.target)) return;
  epochs_.get_issued(static_cast<uint32_t>(call.target));
  join_sample(call.target, decision);
}

Window::Decision Window::decide(const GetCall& call, bool request) {
  Access access{};
  if (!valid_target(call.target)) return pass(access);
  if (options_.mode == Mode::transparent && options_.skip_cheap && dormant()) {
    if (!observed_) {
      access.bytes = bytes_of(call);
    } else {
      understand(call, &access);
    }
    return pass(access);
  }
  if (!understand(call, &access)) return pass(access);
  if (!epochs_.open(access.key.target)) return pass({});  // an error, mostly, which MPI reports
  if (request && host_has(HostDefect::rget_before_data) && !of_predefined_types(call)) return pass(access);
  if (bypassed(access) || !ensure_cache()) return pass(access);
  update_generation();
  const GetCache::Lookup found = cache_->lookup(access.hash, access.key, access.bytes, access.from, access.to);
  switch (found.found) {
    case GetCache::Found::full:
      return serve(call, access, found.entry);
    case GetCache::Found::partial:
      return request ? pass(access) : partial(call, access, found);
    case GetCache::Found::pending:
    case GetCache::Found::pending_partial:
      // A request and another get must not depend on each other: each is complete by calls of its own, or fails by itself.
      return request || pending_[found.token].of_request ? pass(access) : join(call, access, found);
    case GetCache::Found::none:
      break;
  }
  return miss(access);
}

// Counts a get all of whose bytes are here, or on their way.
void Window::served(const Access& access) {
  ++counters_.gets;
  counters_.bytes_requested += access.bytes;
  counters_.bytes_from_cache += access.bytes;
}

Window::Decision Window::serve(const GetCall& call, const Access& access, EntryId entry) {
  served(access);
  ++counters_.hits_full;
  observe(TraceOutcome::full, access, access.bytes);
  if (access.origin.layout->dense) {
    copy_bytes(static_cast<std::byte*>(call.origin) + access.origin.first_offset(), cache_->data(entry), access.bytes);
  } else {
    unpack(cache_->data(entry), access.bytes, call.origin, access.origin);
  }
  Decision decision{};
  decision.answer = Answer::served;
  return decision;
}

// How much of a head may be used: the tail must begin at a whole displacement, and go into one run of the origin.
uint64_t Window::usable_head(const Access& access, uint64_t have) const {
  if (!access.contiguous_target || !access.origin.contiguous() || access.bytes - have > INT_MAX) return 0;
  const int64_t past = (access.key.displacement + static_cast<int64_t>(have)) % identity_.unit;
  const auto excess = static_cast<uint64_t>(past < 0 ? past + identity_.unit : past);
  return have > excess ? have - excess : 0;
}

// The get goes along with one that is under way; if that one is shorter, only the tail is fetched besides.
Window::Decision Window::join(const GetCall& call, const Access& access, const GetCache::Lookup& found) {
  Decision decision{};
  decision.access = access;
  if (found.found == GetCache::Found::pending) {
    served(access);
    ++counters_.hits_pending;
    observe(TraceOutcome::pending, access, access.bytes);
    add_waiter(found.token, call.origin, access.origin, access.bytes);
    decision.answer = Answer::served;
    return decision;
  }
  decision.head = usable_head(access, found.have);
  if (decision.head == 0) {
    cache_->discard(found.entry);
    return miss(access);
  }
  observe(TraceOutcome::partial, access, decision.head);
  decision.record = found.token;
  decision.serial = pending_[found.token].serial;
  decision.waiter = add_waiter(found.token, call.origin, access.origin, decision.head);
  decision.answer = Answer::tail;
  return decision;
}

Window::Decision Window::partial(const GetCall& call, const Access& access, const GetCache::Lookup& found) {
  const bool growing = cache_->entry(found.entry).state == State::growing;
  const uint64_t head = usable_head(access, found.have);
  if (head == 0) {
    cache_->discard(found.entry);
    return miss(access);
  }
  Decision decision{};
  decision.access = access;
  std::byte* to = static_cast<std::byte*>(call.origin) + access.origin.first_offset();
  // A repeat of a get whose tail is under way waits for that tail.
  if (growing) {
    const PendingGet& get = pending_[found.token];
    if (get.start + get.bytes < access.bytes) {
      cache_->discard(found.entry);
      return miss(access);
    }
    copy_bytes(to, cache_->data(found.entry), get.start);
    const uint64_t rest = access.bytes - get.start;
    add_waiter(found.token, to + get.start, {&byte_layout(), rest}, rest);
    served(access);
    ++counters_.hits_pending;
    observe(TraceOutcome::pending, access, access.bytes);
    decision.answer = Answer::served;
    return decision;
  }
  copy_bytes(to, cache_->data(found.entry), head);
  observe(TraceOutcome::partial, access, head);
  decision.answer = Answer::tail;
  decision.head = head;
  decision.entry = found.entry;
  decision.generation = cache_->generation();
  decision.write_seq = cache_->writes().now();
  return decision;
}

Window::Decision Window::miss(const Access& access) {
  Decision decision{};
  decision.answer = Answer::miss;
  decision.access = access;
  decision.generation = cache_->generation();
  decision.write_seq = cache_->writes().now();
  decision.sampled = sample_is_due(access.key.target);
  return decision;
}

uint32_t Window::add_waiter(uint32_t record, void* origin, const Elements& elements, uint64_t bytes) {
  const uint32_t at = waiters_.take();
  layout_hold(elements.layout);
  waiters_[at] = {pending_[record].waiters, origin, elements, bytes};
  pending_[record].waiters = at;
  return at;
}

void Window::tail_refused(const Decision& decision) {
  if (decision.record == no_record || pending_[decision.record].serial != decision.serial) return;
  for (uint32_t* link = &pending_[decision.record].waiters; *link != no_record; link = &waiters_[*link].after) {
    if (*link != decision.waiter) continue;
    *link = waiters_[decision.waiter].after;
    layout_drop(waiters_[decision.waiter].elements.layout);
    waiters_.give_back(decision.waiter);
    return;
  }
}

// The standard leaves a get that overlaps an own put of the same epoch undefined; it must not be kept.
bool Window::overlaps_outstanding_write(const Access& access) {
  const uint32_t target = access.key.target;
  if (!epochs_.writes_outstanding(target)) return false;
  const uint32_t since = epochs_.mark(target);
  return since == Epochs::no_mark || cache_->writes().overwritten(target, access.from, access.to, since);
}

static TraceOutcome outcome_of(GetCache::Insert how) {
  switch (how) {
    case GetCache::Insert::direct:
      return TraceOutcome::direct;
    case GetCache::Insert::conflicting:
      return TraceOutcome::conflicting;
    case GetCache::Insert::capacity:
      return TraceOutcome::capacity;
    case GetCache::Insert::no_room:
    case GetCache::Insert::not_admitted:
      break;
  }
  return TraceOutcome::failing;
}

// Counts a get that was fetched, by what became of its entry.
void Window::missed(const Access& access, TraceOutcome outcome) {
  switch (outcome) {
    case TraceOutcome::direct:
      ++counters_.direct;
      break;
    case TraceOutcome::conflicting:
      ++counters_.conflicting;
      break;
    case TraceOutcome::capacity:
      ++counters_.capacity;
      break;
    default:
      ++counters_.failing;
      break;
  }
  observe(outcome, access, 0);
}

EntryId Window::find_room(const Decision& decision, uint32_t record) {
  const Access& access = decision.access;
  if (decision.answer == Answer::tail) {
    if (decision.entry == no_entry || cache_->find(access.hash, access.key) != decision.entry) return no_entry;
    if (cache_->entry(decision.entry).size < decision.head) return no_entry;  // not the entry it was
    return cache_->grow(access.hash, decision.entry, access.bytes, record);
  }
  if (context.threaded && cache_->find(access.hash, access.key) != no_entry) {
    missed(access, TraceOutcome::failing);
    return no_entry;
  }
  if (!storage_is_used()) {
    const EntryId entry = cache_->insert_bare(access.hash, access.key, access.bytes, record);
    missed(access, entry == no_entry ? TraceOutcome::failing : TraceOutcome::direct);
    return entry;
  }
  if (options_.skip_cheap && !cache_->worth_storing(access.hash, access.bytes, copy_ns(access.bytes))) {
    cache_->remember(access.hash);
    missed(access, TraceOutcome::failing);
    return no_entry;
  }
  const GetCache::Inserted inserted = cache_->insert(access.hash, access.key, access.bytes, record);
  missed(access, outcome_of(inserted.how));
  return inserted.entry;
}

uint32_t Window::add_record(const GetCall& call, const Decision& decision) {
  const Access& access = decision.access;
  const uint32_t at = pending_.take();
  PendingGet& get = pending_[at];
  get = PendingGet();
  get.target = static_cast<uint32_t>(call.target);
  get.serial = ++serials_;
  get.write_seq = decision.write_seq;
  get.origin = call.origin;
  get.elements = access.origin;
  get.bytes = access.bytes;
  if (decision.answer == Answer::tail) {
    // Its bytes come behind the head, into one run of the origin.
    get.origin = static_cast<std::byte*>(call.origin) + decision.head;
    get.bytes = access.bytes - decision.head;
    get.start = decision.head;
  }
  layout_hold(get.elements.layout);
  pending_.append(&pending_of_target_[access.key.target], &PendingGet::of_target, at);
  pending_.append(&pending_of_all_, &PendingGet::of_window, at);
  return at;
}

uint32_t Window::issued(const GetCall& call, const Decision& decision) {
  const Access& access = decision.access;
  epochs_.get_issued(access.key.target);
  join_sample(call.target, decision);
  ++counters_.gets;
  counters_.bytes_requested += access.bytes;
  counters_.bytes_from_cache += decision.head;
  counters_.bytes_from_network += access.bytes - decision.head;
  if (decision.answer == Answer::tail) ++counters_.hits_partial;
  if (cache_ == nullptr) return no_record;
  maybe_adapt();
  update_generation();
  // Another thread's synchronisation or write came between: what was fetched may be older than that.
  const bool overtaken = cache_->generation() != decision.generation || cache_->writes().now() != decision.write_seq;
  if (overtaken || overlaps_outstanding_write(access)) {
    if (decision.answer == Answer::miss) missed(access, TraceOutcome::failing);
    return no_record;
  }
  const uint32_t record = add_record(call, decision);
  const EntryId entry = find_room(decision, record);
  pending_[record].entry = entry;
  if (entry != no_entry) return record;
  release(record);
  return no_record;
}

}  // namespace nearcache::mpi
