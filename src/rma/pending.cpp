// SPDX-License-Identifier: BSD-3-Clause
#include "rma/pending.h"

namespace nearcache::rma {

uint64_t PendingTable::add(const Pending& pending) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = slots_[number];
  slot.pending = pending;
  slot.used = true;
  return uint64_t{slot.generation} << 32 | number;
}

const Pending* PendingTable::find(uint64_t token, int peer) const {
  const size_t number = token & UINT32_MAX;
  if (number >= slots_.size()) return nullptr;
  const Slot& slot = slots_[number];
  return slot.used && slot.generation == token >> 32 && slot.pending.peer == peer ? &slot.pending
                                                                                  : nullptr;
}

bool PendingTable::take(uint64_t token, int peer, Pending* pending) {
  if (find(token, peer) == nullptr) return false;
  take_slot(token & UINT32_MAX, pending);
  return true;
}

bool PendingTable::take_next(int peer, size_t* from, Pending* pending) {
  while (*from < slots_.size()) {
    const size_t number = (*from)++;
    if (slots_[number].used && slots_[number].pending.peer == peer)
      return take_slot(number, pending), true;
  }
  return false;
}

bool PendingTable::give_up_next(const Window* window, size_t* from, Pending* pending) {
  while (*from < slots_.size()) {
    Slot& slot = slots_[(*from)++];
    if (!slot.used || slot.pending.window != window) continue;
    *pending = slot.pending;
    slot.pending = {.peer = pending->peer, .by = pending->by};
    return true;
  }
  return false;
}

void PendingTable::take_slot(size_t number, Pending* pending) {
  Slot& slot = slots_[number];
  *pending = slot.pending;
  slot.used = false;
  ++slot.generation;
  free_.push_back(static_cast<uint32_t>(number));
}

}  // namespace nearcache::rma
