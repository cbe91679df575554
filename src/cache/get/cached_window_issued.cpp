// SPDX-License-Identifier: BSD-3-Clause

// What becomes of a get that was issued: the entry that waits for its data, and the arrival.
#include <algorithm>
#include <string_view>

#include "cache/get/cached_window.h"

namespace nearcache {
namespace {

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

}  // namespace

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
// older than that, or than a write that was outstanding when the get was issued.
bool CachedWindow::may_be_kept(const RemoteGet& get, const Decision& decision) {
  update_generation();
  const bool overtaken = cache_->generation() != decision.generation ||
                         cache_->writes().now() != decision.write_seq ||
                         epochs_.writes_completed() != decision.writes_completed;
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

void CachedWindow::rest_refused(const Decision& decision) {
  if (decision.line.buffer != nullptr)
    line_buffers_.give_back(decision.line.buffer, decision.line.bytes);
  if (pending_.is_of(decision.record, decision.serial))
    pending_.remove_waiter(decision.record, decision.waiter);
}

// Returns a hash that is never 0.
uint64_t CachedWindow::hash_bytes(const std::byte* data, uint64_t bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(data), bytes}) | 1;
}

// If the value differs from the one that was served, the program learns of a write, and perhaps by
// it of others.
void CachedWindow::compare(const PendingGet& get, const std::byte* packed) {
  if (packed != nullptr && hash_bytes(packed, get.bytes) != get.polled) acquires_->add(true);
}

// The data of a get has arrived at the origin: stores it, and copies it to the gets that wait for
// it.
void CachedWindow::complete(uint32_t record, bool succeeded, bool over) {
  const PendingGet get = pending_[record];
  // If the wait for a line failed because of another get, the program may still know that its own
  // get has arrived. The line is therefore delivered as it is.
  const bool delivers = succeeded || over || get.buffer != nullptr;
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
  if (succeeded && get.start == 0 && tells_of_arrivals()) tell_of_arrival(get, packed);
  if (!succeeded || !cache_->keeps(get.entry)) return cache_->abandon(get.entry, get.write_seq);
  std::byte* storage = cache_->data(get.entry) + get.start;
  if (packed != nullptr) {
    cache_->store(storage, packed, get.bytes);
  } else if (moves_data()) {
    pack(get.origin, get.elements, get.bytes, storage);
  }
  cache_->complete(get.entry, get.start + get.bytes, get.write_seq);
}

void CachedWindow::tell_of_arrival(const PendingGet& get, const std::byte* packed) {
  const Key key = cache_->entry(get.entry).key();
  if (packed != nullptr) return repeats_->arrived(key, packed, get.bytes, acquires_->certain());
  std::byte first[Repeats::compared];
  const uint64_t bytes = std::min<uint64_t>(get.bytes, sizeof first);
  pack(get.origin, get.elements, bytes, first);
  repeats_->arrived(key, first, bytes, acquires_->certain());
}

void CachedWindow::release(uint32_t record) {
  const PendingGet& get = pending_[record];
  if (get.buffer != nullptr) line_buffers_.give_back(get.buffer, get.bytes);
  pending_.remove(record);
}

}  // namespace nearcache
