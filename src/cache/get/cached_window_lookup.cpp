// SPDX-License-Identifier: BSD-3-Clause

// How a get is answered: from an entry, parts of entries, or a get in flight; else what is fetched,
// perhaps a line around it.
#include <algorithm>
#include <climits>

#include "base/copy.h"
#include "cache/get/cached_window.h"

namespace nearcache {

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
  decision.writes_completed = epochs_.writes_completed();
  decision.insertions = insertions_;
  if (shared_ != nullptr) decision.stamp = shared_->clock();
  return decision;
}

}  // namespace nearcache
