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

bool PendingTable::take(uint64_t token, int peer, Pending* pending) {
  const size_t number = token & UINT32_MAX;
  if (number >= slots_.size()) return false;
  const Slot& slot = slots_[number];
  if (!slot.used || slot.generation != token >> 32 || slot.pending.peer != peer) return false;
  take_slot(number, pending);
  return true;
}

void PendingTable::take_slot(size_t number, Pending* pending) {
  Slot& slot = slots_[number];
  *pending = slot.pending;
  slot.used = false;
  ++slot.generation;
  free_.push_back(static_cast<uint32_t>(number));
}

}  // namespace nearcache::rma
