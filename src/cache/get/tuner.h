// SPDX-License-Identifier: BSD-3-Clause

// Adapts index and storage to the program, after CLaMPI's adaptive strategy (section III.E).
//
// The paper's rules: many conflicting accesses grow the index, and a sparse index shrinks. Many
// capacity and failing accesses grow the storage, provided that anything is requested twice; a
// stable working set with much free space shrinks it. Unlike the paper, growing and shrinking keep
// the contents, and the tuner runs as soon as gets are turned away: growing from S to W by factors,
// each time after S/32 gets were turned away, loses less than W/16 gets in total. A fixed number of
// gets between runs would lose most of a short run.
#pragma once

#include <cstdint>

namespace nearcache {

// Thresholds are shares of what the gets of one interval cost; factors are greater than 1.
struct TunerSettings {
  bool adaptive = true;
  uint64_t interval = 1024;
  double conflict_threshold = 0.05;
  double capacity_threshold = 0.05;
  double sparsity_threshold = 0.10;
  double stable_threshold = 0.90;
  double free_threshold = 0.50;
  double index_increase = 2, index_decrease = 2;
  double storage_increase = 2, storage_decrease = 1.5;
};

// What happened since the last evaluation, and what is in use now.
struct TunerView {
  uint64_t gets, hits, conflicting;
  uint64_t no_room;  // capacity and failing accesses, for lack of storage
  double returning;  // misses of keys that were requested before (an estimate)
  // cost of a hit, in misses: a get turned away weighs more the less the others cost
  double hit_cost;
  // gets were turned away before the interval was over: too early to call anything stable
  bool early;
  uint64_t entries, index_capacity;
  uint64_t storage_bytes, free_bytes;
};

struct TunerAdvice {
  uint64_t index_capacity;  // unchanged if nothing is to be done
  uint64_t storage_bytes;
};

TunerAdvice advise(const TunerSettings& settings, const TunerView& view);

// Returns how many gets must be turned away for the tuner to run before its interval is over; the
// first one is enough if a missed key has returned. It never runs more often than every tuner_gap
// gets: an evaluation costs as much as a hit, and little of that may fall on each get.
uint64_t tuner_patience(uint64_t entries);
inline constexpr uint64_t tuner_gap = 16;

}  // namespace nearcache
