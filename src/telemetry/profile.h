// SPDX-License-Identifier: BSD-3-Clause

// What the JSON report has beyond counters: how accesses, hit ratio and sizes changed over time,
// and which sizes, keys and targets were requested. Collected only if such a report is requested; a
// get then costs a few nanoseconds more.
//
// Not thread-safe: the caller's lock covers all calls.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "telemetry/trace_format.h"

namespace nearcache {

// The total sizes of all caches of a process.
struct ProfileLevels {
  uint64_t storage_bytes = 0, stored_bytes = 0, index_entries = 0, entries = 0;
};

// One point of the timeline: counts since the start, and levels at the end of the slot.
struct ProfilePoint {
  std::array<uint64_t, outcome_count> gets{};  // by Outcome
  uint64_t hits_shared = 0;                    // full hits on data that another rank had fetched
  ProfileLevels levels;
  ProfilePoint& operator+=(const ProfilePoint& other);
};

// Samples the counts at fixed time steps. When all slots are used, every other one is dropped and
// the step doubles.
class Timeline {
 public:
  static constexpr uint64_t first_slot_ns = 1000000;
  static constexpr size_t most_slots = 128;

  explicit Timeline(uint64_t slot_ns = first_slot_ns) : slot_ns_(slot_ns) {}
  // Records `point` at `ns` since the start. Earlier slots without a point repeat the one before
  // them.
  void advance(uint64_t ns, const ProfilePoint& point);
  uint64_t slot_ns() const { return slot_ns_; }
  const std::vector<ProfilePoint>& points() const { return points_; }
  // Returns the timeline resampled to steps of `slot_ns`, which must be this one's step times a
  // power of two, and to `slots` points; the last point is repeated as needed.
  std::vector<ProfilePoint> stretched(uint64_t slot_ns, size_t slots) const;

 private:
  void halve();

  uint64_t slot_ns_;
  std::vector<ProfilePoint> points_;
};

// Counts how often keys are requested, for a sample of keys chosen by hash: all keys while there
// are few, then 1/2, 1/4, ... of them (spatial sampling, Waldspurger et al., FAST 2015).
class ReuseSample {
 public:
  static constexpr size_t slots = 1 << 14;

  ReuseSample() : keys_(slots) {}
  void get(uint64_t hash) {
    const uint64_t name = (hash * 0xd1342543de82ef95u) >> 1;
    if (name >> shift_ == 0) count(name == 0 ? 1 : name);
  }
  // Returns the fraction of all keys that is in the sample.
  double share() const { return 1.0 / static_cast<double>(uint64_t{1} << (63 - shift_)); }

  struct Class {
    uint64_t keys = 0, gets = 0;
  };
  // Returns the sample's keys that were requested [2^i, 2^(i+1)) times, and their gets, by i.
  std::array<Class, 64> classes() const;

 private:
  struct Key {
    uint64_t name = 0, gets = 0;  // name 0: empty
  };
  void count(uint64_t name);
  void thin();
  Key& slot_of(uint64_t name);

  std::vector<Key> keys_;
  size_t used_ = 0;
  int shift_ = 63;  // names below 2^shift_ are in the sample; names have 63 bits
};

class Profile {
 public:
  struct Size {
    uint64_t gets = 0, hits = 0;
  };
  struct Target {
    uint64_t gets = 0, hits = 0, bytes = 0, bytes_from_cache = 0;
  };
  struct Adaptation {
    int64_t window;
    uint64_t ns, index_entries, storage_bytes;
  };
  static constexpr size_t most_adaptations = 64;

  // Records a get of `bytes` bytes from `target`, of which the cache supplied `from_cache`. Returns
  // true now and then, when it is time to call tick().
  bool get(Outcome outcome, uint32_t target, uint64_t bytes, uint64_t from_cache, uint64_t hash);
  // Called before get() if it is a full hit on data that another rank of the node had fetched.
  void hit_of_another() { ++point_.hits_shared; }
  // Alternatives to get() for a caller that does not see every get: count() adds gets of one
  // outcome, sort() adds gets that are alike in size and target. They do not enter the reuse
  // sample.
  void count(Outcome outcome, uint64_t gets) { point_.gets[static_cast<size_t>(outcome)] += gets; }
  void sort(uint64_t gets, bool hit, uint32_t target, uint64_t bytes, uint64_t from_cache);
  // Adds the difference between `after` and `before` to the levels.
  void level(const ProfileLevels& before, const ProfileLevels& after);
  void tick(uint64_t ns) { timeline_.advance(ns, point_); }
  void adapted(const Adaptation& adaptation) {
    if (adaptations_.size() < most_adaptations) adaptations_.push_back(adaptation);
  }

  const Timeline& timeline() const { return timeline_; }
  const std::array<Size, 64>& sizes() const { return sizes_; }
  const std::vector<Target>& targets() const { return targets_; }
  const std::vector<Adaptation>& adaptations() const { return adaptations_; }
  const ReuseSample& reuse() const { return reuse_; }

 private:
  ProfilePoint point_;
  std::array<Size, 64> sizes_{};  // by power of two: bytes <= 2^i and > 2^(i-1)
  std::vector<Target> targets_;
  std::vector<Adaptation> adaptations_;
  Timeline timeline_;
  ReuseSample reuse_;
  uint32_t until_tick_ = 1;
};

inline bool outcome_is_hit(Outcome outcome) {
  return outcome == Outcome::full || outcome == Outcome::pending || outcome == Outcome::partial;
}

inline void Profile::sort(uint64_t gets, bool hit, uint32_t target, uint64_t bytes,
                          uint64_t from_cache) {
  const uint64_t hits = hit ? gets : 0;
  Size& size = sizes_[bytes <= 1 ? 0 : static_cast<size_t>(64 - __builtin_clzll(bytes - 1)) & 63];
  size.gets += gets;
  size.hits += hits;
  if (target >= targets_.size()) [[unlikely]]
    targets_.resize(target + 1);
  Target& at = targets_[target];
  at.gets += gets;
  at.hits += hits;
  at.bytes += gets * bytes;
  at.bytes_from_cache += gets * from_cache;
}

inline bool Profile::get(Outcome outcome, uint32_t target, uint64_t bytes, uint64_t from_cache,
                         uint64_t hash) {
  count(outcome, 1);
  sort(1, outcome_is_hit(outcome), target, bytes, from_cache);
  reuse_.get(hash);
  if (--until_tick_ != 0) return false;
  until_tick_ = 16;
  return true;
}

}  // namespace nearcache
