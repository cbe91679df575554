// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/profile.h"

#include <algorithm>

namespace nearcache {

ProfilePoint& ProfilePoint::operator+=(const ProfilePoint& other) {
  for (size_t i = 0; i < gets.size(); ++i) gets[i] += other.gets[i];
  hits_shared += other.hits_shared;
  levels.storage_bytes += other.levels.storage_bytes;
  levels.stored_bytes += other.levels.stored_bytes;
  levels.index_entries += other.levels.index_entries;
  levels.entries += other.levels.entries;
  return *this;
}

void Timeline::halve() {
  // Of two neighbours the later one is kept: it holds at the end of the longer slot.
  size_t kept = 0;
  for (size_t i = 1; i < points_.size(); i += 2) points_[kept++] = points_[i];
  if (points_.size() % 2 == 1) points_[kept++] = points_.back();
  points_.resize(kept);
  slot_ns_ *= 2;
}

void Timeline::advance(uint64_t ns, const ProfilePoint& point) {
  while (ns / slot_ns_ >= most_slots) halve();
  const auto slot = static_cast<size_t>(ns / slot_ns_);
  if (slot >= points_.size())
    points_.resize(slot + 1, points_.empty() ? ProfilePoint() : points_.back());
  points_[slot] = point;
}

std::vector<ProfilePoint> Timeline::stretched(uint64_t slot_ns, size_t slots) const {
  Timeline copy = *this;
  while (copy.slot_ns_ < slot_ns) copy.halve();
  copy.points_.resize(slots, copy.points_.empty() ? ProfilePoint() : copy.points_.back());
  return copy.points_;
}

ReuseSample::Key& ReuseSample::slot_of(uint64_t name) {
  // The high bits select the sample; the low bits select the slot.
  size_t at = static_cast<size_t>(name) & (slots - 1);
  while (keys_[at].name != 0 && keys_[at].name != name) at = (at + 1) & (slots - 1);
  return keys_[at];
}

void ReuseSample::count(uint64_t name) {
  Key& key = slot_of(name);
  ++key.gets;
  if (key.name != 0) return;
  key.name = name;
  if (++used_ > slots * 3 / 4) thin();
}

void ReuseSample::thin() {
  --shift_;
  std::vector<Key> before(slots);
  before.swap(keys_);
  used_ = 0;
  for (const Key& key : before) {
    if (key.name == 0 || key.name >> shift_ != 0) continue;
    slot_of(key.name) = key;
    ++used_;
  }
}

std::array<ReuseSample::Class, 64> ReuseSample::classes() const {
  std::array<Class, 64> classes{};
  for (const Key& key : keys_) {
    if (key.name == 0) continue;
    Class& c = classes[static_cast<size_t>(63 - __builtin_clzll(key.gets))];
    ++c.keys;
    c.gets += key.gets;
  }
  return classes;
}

void Profile::level(const ProfileLevels& before, const ProfileLevels& after) {
  ProfileLevels& levels = point_.levels;
  levels.storage_bytes += after.storage_bytes - before.storage_bytes;
  levels.stored_bytes += after.stored_bytes - before.stored_bytes;
  levels.index_entries += after.index_entries - before.index_entries;
  levels.entries += after.entries - before.entries;
}

}  // namespace nearcache
