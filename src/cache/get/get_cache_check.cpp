// SPDX-License-Identifier: BSD-3-Clause

// Checks the invariants of a GetCache. Tests call this after every operation.
#include "cache/get/get_cache.h"
#include "cache/get/policy/policy_view.h"

namespace nearcache {

const char* GetCache::check() const {
  uint64_t free_bytes = 0, live = 0, reachable = 0;
  uint32_t place = 0;
  EntryId before = no_entry;
  for (EntryId id = storage_.first(); id != no_entry; id = entries_[id].after) {
    const Entry& entry = entries_[id];
    if (entry.before != before) return "address order: a back link is wrong";
    if (entry.place != place) return "address order: a gap or an overlap";
    if (before != no_entry && entry.state == State::free_space &&
        entries_[before].state == State::free_space)
      return "two free neighbours were not merged";
    place += storage_.length(id);
    before = id;
    if (entry.state == State::free_space) {
      free_bytes += uint64_t{storage_.length(id)} * granule_bytes;
      continue;
    }
    if (!entry.holds_storage()) return "an entry without a state in storage";
    ++live;
    if (entry.size > storage_.room(id)) return "an entry larger than its room";
    if ((entry.flags & flag_orphan) != 0) continue;
    ++reachable;
    if (index_.find(hash_key(entry.key()), entry.key()) != id)
      return "an entry is not found by its key";
  }
  if (before != storage_.last()) return "address order: the last link is wrong";
  if (uint64_t{place} * granule_bytes != storage_.bytes() && storage_.first() != no_entry)
    return "storage is not covered";
  if (free_bytes != storage_.free_bytes()) return "the count of free bytes is wrong";
  if (live != live_) return "the count of entries is wrong";
  uint64_t bare = 0, listed = 0;
  for (EntryId id = 0; id < storage_.descriptors_touched(); ++id) {
    const Entry& entry = entries_[id];
    if ((entry.state != State::bare && !entry.holds_storage()) || (entry.flags & flag_orphan) != 0)
      continue;
    if (id == unlisted_) continue;
    bare += entry.state == State::bare ? 1 : 0;
    const int places = ranges_.places_of(id);
    if (places == 0 && ranges_.complete() && entry.layout == 0 && entry.size > 0)
      return "an entry is not found by its place";
    listed += static_cast<uint64_t>(places);
  }
  if (listed != ranges_.places()) return "places of something that is not an entry are listed";
  if (reachable + bare != index_.used()) return "the index counts other entries than there are";
  return policy().check(PolicyView(const_cast<GetCache&>(*this)));  // only reads
}

const char* GetCache::check_queues(int count) const {
  uint64_t queued = 0;
  for (int segment = 0; segment < count; ++segment) {
    const Queue& queue = queues_.queue[segment];
    uint64_t bytes = 0;
    EntryId before = no_entry;
    for (EntryId id = queue.first; id != no_entry; id = links_[id].after) {
      if (links_[id].before != before) return "a queue's back link is wrong";
      if (!entries_[id].holds_storage() || ++queued > live_)
        return "a queue holds something that is not an entry";
      if (count > 1 && (entries_[id].flags & flags_segment) >> segment_shift != segment)
        return "an entry stands in another queue than its own";
      bytes += storage_.room(id);
      before = id;
    }
    if (before != queue.last) return "a queue's end is wrong";
    if (bytes != queue.bytes) return "a queue's count of bytes is wrong";
  }
  if (queues_.hand != no_entry && !entries_[queues_.hand].holds_storage())
    return "the hand points at no entry";
  return queued == live_ ? nullptr : "an entry stands in no queue";
}

}  // namespace nearcache
