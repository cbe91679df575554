// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/ranges.h"

#include <algorithm>
#include <iterator>

namespace nearcache {

void Ranges::attach(void* memory, Entry* entries, uint64_t capacity, bool used) {
  index_.attach(memory, entries, most_places(capacity));
  capacity_ = capacity;
  entries_.set(entries);
  used_ = used;
}

bool Ranges::blocks_of(EntryId id, int* level, int64_t* first, int64_t* last) const {
  const Entry& entry = entries_[id];
  if (entry.layout != 0 || entry.size == 0 ||
      __builtin_add_overflow(entry.displacement, int64_t{entry.size}, last))
    return false;
  *level = level_of(entry.size);
  *first = entry.displacement >> *level;
  *last = (*last - 1) >> *level;
  return true;
}

void Ranges::add_listed(EntryId id) {
  int level = 0;
  int64_t first = 0, last = 0;
  if (!blocks_of(id, &level, &first, &last)) return;
  const uint32_t target = entries_[id].target;
  for (int64_t block = first; block <= last; ++block) {
    const uint64_t hash = hash_block(target, block, level);
    // A sample is not worth a search for room.
    const bool crowded = listed_ == Listed::some && index_.used() * 4 >= index_.capacity() * 3;
    if (crowded || index_.alike(hash, nullptr) >= most_alike || !index_.insert(hash, id)) {
      ++left_out_;
      continue;
    }
    ++count_[level];
    levels_ |= uint64_t{1} << level;
  }
}

void Ranges::remove_listed(EntryId id) {
  int level = 0;
  int64_t first = 0, last = 0;
  if (!blocks_of(id, &level, &first, &last)) return;
  const uint32_t target = entries_[id].target;
  for (int64_t block = first; block <= last; ++block) {
    if (index_.erase(hash_block(target, block, level), id) && --count_[level] == 0)
      levels_ &= ~(uint64_t{1} << level);
  }
}

int Ranges::places_of(EntryId id) const {
  int level = 0, places = 0;
  int64_t first = 0, last = 0;
  if (!lists(id) || !blocks_of(id, &level, &first, &last)) return 0;
  for (int64_t block = first; block <= last; ++block) {
    EntryId ids[most_found];
    const int count = index_.alike(hash_block(entries_[id].target, block, level), ids);
    places += static_cast<int>(std::count(ids, ids + count, id));
  }
  return places;
}

int Ranges::holding(uint32_t target, int64_t at, int level, EntryId* ids) const {
  const int count = index_.alike(hash_block(target, at >> level, level), ids);
  const auto holds = [&](EntryId id) {
    const Entry& entry = entries_[id];
    return entry.target == target && entry.layout == 0 && entry.displacement <= at &&
           static_cast<uint64_t>(at) - static_cast<uint64_t>(entry.displacement) < entry.size;
  };
  return static_cast<int>(std::remove_if(ids, ids + count, [&](EntryId id) { return !holds(id); }) -
                          ids);
}

void Ranges::list_anew(Listed which) {
  listed_ = which;
  due_ = false;
  looks_ = paid_ = 0;
  reset_capacity(capacity_);
}

void Ranges::clear() {
  if (index_.used() != 0) index_.clear();
  left_out_ = 0;
  levels_ = 0;
  std::fill(std::begin(count_), std::end(count_), 0);
}

void Ranges::reset_capacity(uint64_t capacity) {
  capacity_ = capacity;
  clear();
  const uint64_t places =
      listed_ == Listed::some ? std::max<uint64_t>(capacity / one_of, 1) : most_places(capacity);
  if (places != index_.capacity()) index_.reset_capacity(places);
}

}  // namespace nearcache
