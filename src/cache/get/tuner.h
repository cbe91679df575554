// Adapts index and storage to the program, after CLaMPI's adaptive strategy (section III.E).
//
// The paper's rules: many conflicting accesses grow the index, a sparse index shrinks; many
// capacity and failing ones grow the storage - if anything is asked for twice -, a stable working
// set with much free space shrinks it. Unlike the paper's, growing and shrinking keep the contents,
// and looks come as soon as gets are turned away: growing from S to W by factors, each after S/32
// was turned away, loses less than W/16 on the whole way. A fixed number of gets between looks
// would lose most of a short run.
#pragma once

#include <cstdint>

namespace nearcache {

// Thresholds are shares of what the gets of one interval cost; factors are above 1.
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

// What happened since the last look, and what is in use now.
struct TunerView {
  uint64_t gets, hits, conflicting;
  uint64_t no_room;  // capacity and failing accesses, for lack of storage
  double returning;  // misses of keys that were asked for before: an estimate
  // what a hit costs, in misses: a get that is turned away weighs more the less the others cost
  double hit_cost;
  // gets were turned away and the interval is not over: too soon to call anything stable
  bool early;
  uint64_t entries, index_capacity;
  uint64_t storage_bytes, free_bytes;
};

struct TunerAdvice {
  uint64_t index_capacity;  // unchanged where nothing is to be done
  uint64_t storage_bytes;
};

TunerAdvice advise(const TunerSettings& settings, const TunerView& view);

// After how many gets turned away the tuner looks before its interval is over; at the first if a
// missed key has returned. But never more often than every so many gets: a look costs what a hit
// does, and little of it may fall on a get.
uint64_t tuner_patience(uint64_t entries);
inline constexpr uint64_t tuner_gap = 16;

}  // namespace nearcache
