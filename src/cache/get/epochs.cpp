// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/epochs.h"

#include <algorithm>

namespace nearcache {

void Epochs::start(std::span<const int> targets) {
  fence_ = false;
  for (const int target : targets) {
    set(static_cast<uint32_t>(target), in_start, true);
    started_.push_back(static_cast<uint32_t>(target));
  }
}

void Epochs::complete() {
  for (const uint32_t target : started_) set(target, in_start, false);
  started_.clear();
}

void Epochs::forget_marks() {
  ++era_;
  for (const uint32_t target : touched_) targets_[target].mark = no_mark;
}

uint32_t Epochs::complete_up_to(uint32_t now) const {
  for (const uint32_t target : touched_) {
    if ((targets_[target].flags & writes) == 0) continue;
    now = targets_[target].mark == no_mark ? 0 : std::min(now, targets_[target].mark);
  }
  return now;
}

bool Epochs::some_without_number() const {
  const auto has_some = [this](const Target& target) {
    return writes_without_number(static_cast<uint32_t>(&target - targets_.data()));
  };
  return std::ranges::any_of(targets_, has_some);
}

bool Epochs::some_writes_outstanding() const {
  return (unnoted_writes_ && all_known_since_ != unnoted_) ||
         std::ranges::any_of(
             touched_, [this](uint32_t target) { return (targets_[target].flags & writes) != 0; });
}

void Epochs::all_outstanding(bool or_writes) {
  unnoted_writes_ = or_writes || (unnoted_writes_ && all_known_since_ != unnoted_);
  ++unnoted_;
  unnoted_up_to_ = ++numbers_;
  quiet_ = false;
}

Epochs::Sync Epochs::begin(Targets targets, bool local, uint32_t mark) {
  ++under_way_;
  quiet_ = false;
  return {targets, numbers_, local, being_issued_ == 0 ? mark : no_mark, era_};
}

void Epochs::settle(uint32_t number, const Sync& sync) {
  Target* const target = &targets_[number];
  const bool without_number = writes_without_number(number);
  const bool wrote = writes_outstanding(number);
  if (!sync.local && (target->flags & (gets | writes)) != 0) target->held_in = passive_;
  if (target->last_get <= sync.up_to) target->flags = static_cast<uint8_t>(target->flags & ~gets);
  if (makes_known(sync)) target->known_since = unnoted_;
  if (sync.local) return;
  completed_without_number_ += without_number ? 1 : 0;
  writes_completed_ += wrote ? 1 : 0;
  target->flags = static_cast<uint8_t>(target->flags & ~exclusive);
  if (target->last_write <= sync.up_to && target->being_issued == 0) {
    target->flags = static_cast<uint8_t>(target->flags & ~writes);
  } else if (sync.mark != no_mark && sync.era == era_ && target->mark < sync.mark) {
    target->mark = sync.mark;
  }
}

void Epochs::end(const Sync& sync, bool succeeded) {
  --under_way_;
  if (succeeded) {
    if (sync.targets.is_all() && makes_known(sync)) {
      const uint32_t were_unnoted = all_known_since_ != unnoted_ ? 1 : 0;
      completed_without_number_ += were_unnoted;
      writes_completed_ += were_unnoted;
      all_known_since_ = unnoted_;
    }
    if (sync.targets.is_one()) settle(sync.targets.rank(), sync);
    for (size_t i = 0; i < touched_.size();) {
      Target& target = targets_[touched_[i]];
      if (sync.targets.is_all()) settle(touched_[i], sync);
      if ((target.flags & (gets | writes)) != 0) {
        ++i;
        continue;
      }
      target.flags = static_cast<uint8_t>(target.flags & ~listed);
      touched_[i] = touched_.back();
      touched_.pop_back();
    }
  }
  update_quiet();
}

bool Epochs::flush_is_empty(Targets targets) const {
  if (under_way_ != 0 || targets.is_none()) return false;
  if (targets.is_all()) return of_all_ && touched_.empty() && all_known_since_ == unnoted_;
  if (unknown(targets.rank())) return false;
  const Target& target = targets_[targets.rank()];
  return (of_all_ || (target.flags & locked) != 0) &&
         (target.flags & (gets | writes | exclusive)) == 0;
}

}  // namespace nearcache
