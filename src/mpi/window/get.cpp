// The way of one get through a window: what the cache answers, and what is kept of a get that was issued.
#include <climits>

#include "base/clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

// Everything the cache must know of the call. False where only MPI can say what it means, or that it is wrong.
bool Window::understand(const GetCall& call, Access* access) const {
  if (call.origin_count < 0 || call.target_count < 0) return false;
  const Layout* origin = layout_of(call.origin_type);
  const Layout* target = call.target_type == call.origin_type ? origin : layout_of(call.target_type);
  if (origin == nullptr || target == nullptr) return false;
  access->origin = {origin, static_cast<uint64_t>(call.origin_count)};
  const Elements there{target, static_cast<uint64_t>(call.target_count)};
  access->bytes = access->origin.bytes();
  if (access->bytes == 0 || access->bytes != there.bytes()) return false;
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
    access->key.displacement = contiguous ? start + there.first_offset() : start;
    access->key.layout = contiguous ? 0 : target->id;
    access->from = start + (contiguous ? there.first_offset() : there.lowest());
    access->to = contiguous ? access->from + static_cast<int64_t>(access->bytes) : start + there.highest();
    access->contiguous_target = contiguous;
  }
  access->hash = hash_key(access->key);
  return true;
}

bool Window::bypassed(const Target& target, const Access& access) {
  if (access.key.target == static_cast<uint32_t>(identity_.rank) || access.bytes > options_.max_get) return true;
  const bool far = (target.flags & target_far) != 0;
  return (cheap_sizes_[far] >> CostModel::class_of(access.bytes) & 1) != 0;
}

Window::Decision Window::pass(const Access& access) {
  ++counters_.bypassed;
  counters_.bytes_from_network += access.bytes;
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

// What a get asks for, without a closer look at it.
static uint64_t bytes_of(const GetCall& call) {
  const Layout* layout = call.origin_count > 0 ? layout_of(call.origin_type) : nullptr;
  return layout == nullptr ? 0 : layout->size * static_cast<uint64_t>(call.origin_count);
}

Window::Decision Window::decide(const GetCall& call, bool request) {
  ++counters_.gets;
  if (!valid_target(call.target)) return pass({});
  Access access{};
  if (options_.mode == Mode::transparent && options_.skip_cheap && dormant()) {
    if (!observed_ || !understand(call, &access)) access.bytes = bytes_of(call);
    counters_.bytes_requested += access.bytes;
    return pass(access);
  }
  const Target& target = this->target(call.target);
  // Errors that MPI reports, mostly: nothing is fetched, as far as we know.
  if (!understand(call, &access) || !epoch_is_open(target)) return pass({});
  counters_.bytes_requested += access.bytes;
  if (bypassed(target, access) || !ensure_cache()) return pass(access);
  update_generation();
  const GetCache::Lookup found = cache_->lookup(access.hash, access.key, access.bytes, access.from, access.to);
  switch (found.found) {
    case GetCache::Found::full:
      return serve(call, access, found.entry);
    case GetCache::Found::partial:
      return request ? pass(access) : partial(call, access, found);
    case GetCache::Found::pending:
    case GetCache::Found::pending_partial:
      return request ? pass(access) : join(call, access, found);
    case GetCache::Found::none:
      break;
  }
  return miss(target, access);
}

Window::Decision Window::serve(const GetCall& call, const Access& access, EntryId entry) {
  ++counters_.hits_full;
  counters_.bytes_from_cache += access.bytes;
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
    ++counters_.hits_pending;
    counters_.bytes_from_cache += access.bytes;
    observe(TraceOutcome::pending, access, access.bytes);
    add_waiter(found.token, call.origin, access.origin, access.bytes);
    decision.answer = Answer::served;
    return decision;
  }
  decision.head = usable_head(access, found.have);
  if (decision.head == 0) {
    cache_->discard(found.entry);
    return miss(target(call.target), access);
  }
  ++counters_.hits_partial;
  counters_.bytes_from_cache += decision.head;
  observe(TraceOutcome::partial, access, decision.head);
  add_waiter(found.token, call.origin, access.origin, decision.head);
  decision.answer = Answer::tail;
  return decision;
}

Window::Decision Window::partial(const GetCall& call, const Access& access, const GetCache::Lookup& found) {
  const bool growing = cache_->entry(found.entry).state == State::growing;
  const uint64_t head = usable_head(access, found.have);
  if (head == 0) {
    cache_->discard(found.entry);
    return miss(target(call.target), access);
  }
  Decision decision{};
  decision.access = access;
  std::byte* to = static_cast<std::byte*>(call.origin) + access.origin.first_offset();
  // A repeat of a get whose tail is under way waits for that tail.
  if (growing) {
    const PendingGet& get = pending_[found.token];
    if (get.start + get.bytes < access.bytes) {
      cache_->discard(found.entry);
      return miss(target(call.target), access);
    }
    copy_bytes(to, cache_->data(found.entry), get.start);
    const uint64_t rest = access.bytes - get.start;
    add_waiter(found.token, to + get.start, {&byte_layout(), rest}, rest);
    ++counters_.hits_pending;
    counters_.bytes_from_cache += access.bytes;
    observe(TraceOutcome::pending, access, access.bytes);
    decision.answer = Answer::served;
    return decision;
  }
  copy_bytes(to, cache_->data(found.entry), head);
  ++counters_.hits_partial;
  counters_.bytes_from_cache += head;
  observe(TraceOutcome::partial, access, head);
  decision.answer = Answer::tail;
  decision.head = head;
  decision.entry = found.entry;
  decision.generation = cache_->generation();
  decision.write_seq = cache_->writes().now();
  return decision;
}

Window::Decision Window::miss(const Target& target, const Access& access) {
  Decision decision{};
  decision.answer = Answer::miss;
  decision.access = access;
  decision.generation = cache_->generation();
  decision.write_seq = cache_->writes().now();
  decision.sampled = sample_is_due(target);
  return decision;
}

void Window::add_waiter(uint32_t record, void* origin, const Elements& elements, uint64_t bytes) {
  const uint32_t at = waiters_.take();
  layout_hold(elements.layout);
  waiters_[at] = {pending_[record].waiters, origin, elements, bytes};
  pending_[record].waiters = at;
}

// The standard leaves a get that overlaps an own put of the same epoch undefined; it must not be kept.
bool Window::overlaps_outstanding_write(const Access& access) {
  const Target& target = targets_[access.key.target];
  if ((target.flags & target_writes) == 0) return false;
  return target.writes_since == writes_unknown ||
         cache_->writes().overwritten(access.key.target, access.from, access.to, target.writes_since);
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
  pending_.append(&target(call.target).pending, &PendingGet::of_target, at);
  pending_.append(&pending_of_all_, &PendingGet::of_window, at);
  return at;
}

uint32_t Window::issued(const GetCall& call, const Decision& decision) {
  const Access& access = decision.access;
  outstanding(call.target, target_gets);
  join_sample(call.target, decision);
  counters_.bytes_from_network += access.bytes - decision.head;
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
