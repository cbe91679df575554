// SPDX-License-Identifier: BSD-3-Clause

// Sizes of a GetCache: what the tuner is told, and index and storage resized with their contents
// kept.
#include <algorithm>

#include "cache/get/get_cache.h"

namespace nearcache {

TunerView GetCache::look() {
  TunerView view{};
  view.gets = now_ - adapted_at_;
  view.hits = hits_ - hits_then_;
  view.conflicting = conflicting_ - conflicting_then_;
  view.no_room = no_room_ - no_room_then_;
  view.early = view.gets < tuner_.interval;
  // Averaged over several intervals, since one interval contains only a few of the sampled keys.
  const auto gets = static_cast<double>(view.gets);
  const double fade = 1 - std::min(1.0, gets / (4 * static_cast<double>(tuner_.interval)));
  judged_gets_ = judged_gets_ * fade + gets;
  judged_returning_ = judged_returning_ * fade + static_cast<double>(returning_ - returning_then_);
  view.returning = gets * judged_returning_ / std::max(judged_gets_, 1.0);
  view.hit_cost =
      std::min(1.0, hit_cost.cost_ns(average_bytes()) / std::max(cost_ns(average_bytes()), 1.0));
  view.entries = index_.used();
  view.index_capacity = index_.capacity();
  view.storage_bytes = storage_.bytes();
  view.free_bytes = storage_.free_bytes();
  adapted_at_ = now_;
  hits_then_ = hits_;
  conflicting_then_ = conflicting_;
  no_room_then_ = no_room_;
  returning_then_ = returning_;
  return view;
}

int GetCache::adapt(MemoryBudget* budget) {
  if (ranges_.change_is_due()) {
    list_ranges(ranges_.listed() == Ranges::Listed::all ? Ranges::Listed::some
                                                        : Ranges::Listed::all);
    if (!adapt_is_due()) return 0;
  }
  const TunerView view = look();
  const int changes = apply(advise(tuner_, view), budget);
  if (tuner_.adaptive) look_at_ = turned_away() + tuner_patience(index_.used());
  return changes;
}

// Returns how much of the advised storage the budget allows. A small part of it is not worth a
// step.
uint64_t GetCache::affordable(uint64_t storage, const MemoryBudget& budget) const {
  const uint64_t has = storage_.bytes();
  if (storage <= has) return storage;
  const uint64_t left = budget.limit() - std::min(budget.used(), budget.limit());
  return left < has / 8 ? has : std::min(storage - has, left) + has;
}

int GetCache::apply(TunerAdvice advice, MemoryBudget* budget) {
  advice.index_capacity = std::clamp<uint64_t>(advice.index_capacity, 1, geometry_.most_index);
  int changes = 0;
  const auto change = [&](uint64_t index, uint64_t storage, auto resize) {
    const uint64_t has = memory();
    const uint64_t wants = memory_of(index, storage);
    if (wants > has && !budget->take(wants - has)) return;
    changes += resize() ? 1 : 0;
    const uint64_t took = std::max(wants, has);
    if (memory() < took) budget->give_back(took - memory());
  };
  if (advice.index_capacity != index_.capacity()) {
    change(advice.index_capacity, storage_.bytes(),
           [&] { return resize_index(advice.index_capacity), true; });
  }
  advice.storage_bytes =
      std::min(affordable(advice.storage_bytes, *budget), geometry_.most_storage) / granule_bytes *
      granule_bytes;
  if (advice.storage_bytes != storage_.bytes()) {
    change(index_.capacity(), advice.storage_bytes,
           [&] { return resize_storage(advice.storage_bytes); });
  }
  return changes;
}

// Keeps the contents: every entry that finds a slot in the new index is inserted again, the others
// are evicted.
void GetCache::resize_index(uint64_t capacity) {
  if (stale_) purge();
  list_last();
  index_.reset_capacity(capacity);
  ranges_.reset_capacity(capacity);
  sketch_.resize(capacity);
  storage_.limit_descriptors(descriptors_for(capacity));
  // Bare entries are not in the address order, so walk the descriptors.
  for (EntryId id = 0; id < storage_.descriptors_touched(); ++id) {
    Entry& entry = entries_[id];
    const bool holds = entry.holds_storage() || entry.state == State::bare;
    if (!holds || (entry.flags & flag_orphan) != 0) continue;
    if (list(hash_key(entry.key()), id)) continue;
    entry.flags |= flag_orphan;  // no longer in the index
    if (entry.state == State::cached) evict(id);
  }
}

bool GetCache::resize_storage(uint64_t bytes) {
  if (bytes >= storage_.bytes()) return storage_.grow(bytes);
  if (stale_) purge();
  const auto end = static_cast<uint32_t>(bytes / granule_bytes);
  for (EntryId id = storage_.last(); id != no_entry;) {
    const Entry& entry = entries_[id];
    if (entry.state == State::free_space) {
      if (entry.place <= end) break;
      id = entry.before;
      continue;
    }
    if (entry.place + storage_.length(id) <= end) break;
    if (!evictable(id)) return false;  // a get is under way into it: try again at the next look
    evict(id);
    id = storage_.last();
  }
  return storage_.shrink(bytes);
}

}  // namespace nearcache
