// SPDX-License-Identifier: BSD-3-Clause

// The path of one get through a window: what the call means, whether the cache is consulted, and
// what is measured and reported.
#include <climits>
#include <utility>

#include "base/copy.h"
#include "mpi/window/window.h"
#include "telemetry/window_id.h"

namespace nearcache::mpi {

static bool on_host(const GetCall& call, const Elements& origin) {
  return context.devices.is_host(static_cast<const std::byte*>(call.origin) + origin.lowest(),
                                 static_cast<uint64_t>(origin.highest() - origin.lowest()));
}

// Fills in everything the cache must know about the call. Returns false if only MPI can interpret
// it, or if it is erroneous.
bool Window::understand(const GetCall& call, RemoteGet* get) const {
  if (call.origin_count < 0 || call.target_count < 0) return false;
  const Layout* origin = layout_of(call.origin_type);
  const Layout* target =
      call.target_type == call.origin_type ? origin : layout_of(call.target_type);
  if (origin == nullptr || target == nullptr) return false;
  // MPI_BOTTOM is valid only with types that contain addresses
  if (call.origin == nullptr && named_types.find(call.origin_type) != nullptr) return false;
  get->origin = call.origin;
  get->elements = {origin, static_cast<uint64_t>(call.origin_count)};
  const Elements there{target, static_cast<uint64_t>(call.target_count)};
  if (__builtin_mul_overflow(origin->size, get->elements.count, &get->bytes)) get->bytes = 0;
  uint64_t bytes_there = 0;
  if (__builtin_mul_overflow(target->size, there.count, &bytes_there)) return false;
  if (get->bytes == 0 || get->bytes != bytes_there) return false;
  if (context.devices.present() && !on_host(call, get->elements)) return false;
  get->key.target = static_cast<uint32_t>(call.target);
  const bool contiguous = there.contiguous();
  const bool plain = contiguous && (identity_.unit != 0 || there.first_offset() == 0);
  const uint32_t name = plain ? 0 : cached_.name_of(*target);
  if (name == SharedCache::no_name) return false;
  if (identity_.unit == 0) {
    // If displacement units differ between ranks, the address is unknown, but equal calls still
    // mean equal bytes.
    get->key.displacement = call.displacement;
    get->key.layout = name;
    get->from = INT64_MIN;
    get->to = INT64_MAX;
    get->contiguous_target = false;
  } else {
    int64_t start = 0;
    if (__builtin_mul_overflow(static_cast<int64_t>(call.displacement), identity_.unit, &start))
      return false;
    if (__builtin_add_overflow(start, there.lowest(), &get->from) ||
        __builtin_add_overflow(start, there.highest(), &get->to))
      return false;
    get->key.displacement = contiguous ? start + there.first_offset() : start;
    get->key.layout = name;
    if (contiguous) {
      get->from = get->key.displacement;
      get->to = get->from + static_cast<int64_t>(get->bytes);
    }
    get->contiguous_target = contiguous;
  }
  get->hash = hash_key(get->key);
  return true;
}

// Returns 0 if the size cannot be determined.
uint64_t Window::bytes_of(const GetCall& call) {
  const Layout* origin = call.origin_count < 0 ? nullptr : layout_of(call.origin_type);
  uint64_t bytes = 0;
  if (origin == nullptr ||
      __builtin_mul_overflow(origin->size, static_cast<uint64_t>(call.origin_count), &bytes))
    return 0;
  return bytes;
}

Window::Decision Window::pass(int target, const RemoteGet& get, bool request) {
  observe(Outcome::bypassed, get, 0);
  Decision decision;
  decision.get = get;
  // Gets from this rank do not cost what others do.
  decision.sampled = get.bytes > 0 && target != identity_.rank &&
                     sampling_.passed_is_due(context.observer.tracing() ? 64 : 1 << 16, request);
  return decision;
}

static bool of_predefined_types(const GetCall& call) {
  return named_types.find(call.origin_type) != nullptr &&
         named_types.find(call.target_type) != nullptr;
}

// The get bypassed the cache, and MPI has accepted it.
void Window::passed(const GetCall& call, const Decision& decision) {
  cached_.passed(decision.get.bytes, targets(call.target));
  counters_.own_gets += call.target == identity_.rank ? 1 : 0;
  if (!decision.sampled && valid_target(call.target))
    sampling_.joined(call.target, decision.get.bytes);
  if (decision.get.bytes != 0) maybe_pause(call.origin_type, decision.get.bytes);
}

Window::Decision Window::decide(const GetCall& call, bool request) {
  if (pause_.on()) wake();
  // an Rget must not be completed along with another get
  const bool absent = std::exchange(absent_.known, false) && !request;
  RemoteGet get{};
  if (!valid_target(call.target)) return pass(call.target, get, request);
  if (transparent_) context.phases.look();
  const bool far = is_far(static_cast<uint32_t>(call.target));
  if (transparent_ && skip_cheap_ && (nearly_cheap_[far] || !context.phases.quiet()) &&
      dormancy_[far].passes(hits(), plain_hits_, nearly_cheap_[far] ? hits_wanted_[far] : 0)) {
    if (!observed_) {
      get.bytes = bytes_of(call);
    } else {
      understand(call, &get);
    }
    return pass(call.target, get, request);
  }
  if (absent && coherent_ == nullptr) return decide_absent(call);
  if (!understand(call, &get)) return pass(call.target, get, request);
  // mostly an error, which MPI reports
  if (!epochs().open(get.key.target)) return pass(call.target, {}, request);
  if (transparent_ && locks_deferred() && !may_be_served_unlocked(call, request)) [[unlikely]]
    return pass(call.target, get, request);
  if (request && !identity_.by_engine && host_has(HostDefect::rget_before_data) &&
      !of_predefined_types(call))
    return pass(call.target, get, request);
  if (bypassed(get) || !ensure_cache()) return pass(call.target, get, request);
  if (coherent_ != nullptr) {
    coherent_->prepare(get.key.target);
    if (!ensure_cache()) return pass(call.target, get, request);
    if (absent && get.contiguous_target) return decide_absent(call);
  }
  may_fetch_line(get);
  if (transparent_ && locks_deferred()) [[unlikely]]
    return decided(get, look_up_unlocked(call, get, request), request);
  return decided(get, cached_.look_up(get, request), request);
}

bool Window::serve_plain_hit_shared(Key key, uint64_t hash, uint64_t bytes, void* to) {
  if (!cached_.hit_shared(key, hash, bytes, to)) return false;
  count_plain_hit(key, bytes);
  return true;
}

bool Window::serve_plain_part(Key key, uint64_t bytes, void* to) {
  GetCache* cache = cached_.cache();
  uint64_t offset = 0;
  const Entry* entry = cache->find_part(key, bytes, &offset);
  parts_follow_ = entry != nullptr;
  if (entry == nullptr || (transparent_ && cached_.polls(key))) return false;
  copy_word_or_bytes(to, cache->data(*entry) + offset, bytes);
  if (offset == 0) {  // the entry under this key, which is no part
    cache->count_hit(entry, bytes);
  } else {
    cache->count_part(entry, bytes);
  }
  count_plain_hit(key, bytes);
  return true;
}

bool Window::serve_absent(Key key, uint64_t hash, uint64_t bytes, void* to) {
  if (serve_plain_part(key, bytes, to)) return true;
  if (!parts_follow_) absent_ = {true, key, hash, bytes};
  return false;
}

static bool may_be_issued_later(const GetCall& call) {
  return call.origin_count <= INT_MAX && call.target_count <= INT_MAX && of_predefined_types(call);
}

// What is served under a lock that was not taken may have to be issued after all: it is confirmed
// before anything of which that is not easily done.
void Window::prepare_to_serve(const GetCall& call) {
  if (transparent_ && (deferred_.full() || !may_be_issued_later(call)))
    confirm_served(targets(call.target));
}

bool Window::may_be_served_unlocked(const GetCall& call, bool request) {
  return (!request && may_be_issued_later(call)) ||
         !deferred_.remembers(static_cast<uint32_t>(call.target));
}

CachedWindow::Decision Window::look_up_unlocked(const GetCall& call, const RemoteGet& get,
                                                bool request) {
  const CachedWindow::Decision decision = cached_.look_up(get, request);
  if (decision.answer == Answer::served || decision.answer == Answer::rest) deferred_.served(call);
  return decision;
}

// Reuses the key, hash and index look-up of serve_plain_hit.
Window::Decision Window::decide_absent(const GetCall& call) {
  RemoteGet get{};
  get.key = absent_.key;
  get.hash = absent_.hash;
  get.bytes = absent_.bytes;
  get.from = get.key.displacement;
  if (__builtin_add_overflow(get.from, static_cast<int64_t>(get.bytes), &get.to))
    return pass(call.target, {}, false);
  get.contiguous_target = true;
  get.origin = call.origin;
  get.elements = {plain_layout_, static_cast<uint64_t>(call.origin_count)};
  if (bypassed(get)) return pass(call.target, get, false);
  may_fetch_line(get);
  return decided(get, cached_.look_up_absent(get), false);
}

Window::Decision Window::decided(const RemoteGet& get, const CachedWindow::Decision& cached,
                                 bool request) {
  Decision decision{cached, get};
  if (cached.answer != Answer::pass) pause_.get_asked();
  switch (cached.answer) {
    case Answer::pass:
      return pass(static_cast<int>(get.key.target), get, request);
    case Answer::served:
      observe(cached.outcome, get, get.bytes);
      break;
    case Answer::rest:
      observe(cached.outcome, get, cached.from_cache());
      break;
    case Answer::miss:
      if (transparent_) {
        const uint64_t line =
            hash_key({get.key.displacement >> 6, get.key.target, window_hash(identity_.id)});
        context.phases.missed(line);
        if (coherent_ != nullptr) coherent_->missed();
      }
      decision.sampled = miss_is_sampled(get.key.target, request);
      break;
  }
  return decision;
}

uint32_t Window::issued(const GetCall& call, const Decision& decision) {
  if (!decision.sampled) sampling_.joined(call.target, decision.bytes());
  maybe_adapt();
  const CachedWindow::Issued issued = cached_.issued(decision.get, decision.cached);
  if (issued.told) observe(issued.outcome, decision.get, 0);
  return issued.record;
}

}  // namespace nearcache::mpi
