// SPDX-License-Identifier: BSD-3-Clause
#include "upc/held_locks.h"

#include <cstdlib>

namespace nearcache::upc {

const HeldLocks::Entry* HeldLocks::find(uint64_t key) const {
  for (size_t i = home(key); entries_[i].key != 0; i = (i + 1) & (room_ - 1)) {
    if (entries_[i].key == key) return &entries_[i];
  }
  return nullptr;
}

void HeldLocks::put(const Entry& entry) {
  size_t i = home(entry.key);
  while (entries_[i].key != 0) i = (i + 1) & (room_ - 1);
  entries_[i] = entry;
}

bool HeldLocks::add(const Entry& entry) {
  if ((used_ + 1) * 2 > room_) {
    Entry* const old = entries_;
    const size_t old_room = room_;
    Entry* const larger = static_cast<Entry*>(calloc(2 * room_, sizeof *larger));
    if (larger == nullptr) return false;
    entries_ = larger;
    room_ *= 2;
    for (size_t i = 0; i < old_room; ++i) {
      if (old[i].key != 0) put(old[i]);
    }
    if (old != first_) free(old);
  }
  put(entry);
  ++used_;
  return true;
}

// Moves up the entries after the gap that would otherwise no longer be found.
void HeldLocks::remove(uint64_t key) {
  const Entry* const entry = find(key);
  if (entry == nullptr) return;
  size_t gap = static_cast<size_t>(entry - entries_);
  --used_;
  for (size_t i = (gap + 1) & (room_ - 1); entries_[i].key != 0; i = (i + 1) & (room_ - 1)) {
    const size_t from_home = (i - home(entries_[i].key)) & (room_ - 1);
    const size_t from_gap = (i - gap) & (room_ - 1);
    if (from_home >= from_gap) {
      entries_[gap] = entries_[i];
      gap = i;
    }
  }
  entries_[gap].key = 0;
}

}  // namespace nearcache::upc
