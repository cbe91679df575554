// Adapts index and storage to the program, after CLaMPI's adaptive strategy (section III.E).
//
// The paper's rules: many conflicting accesses grow the index, a sparse index shrinks; many capacity and failing ones
// grow the storage - if anything is asked for twice -, a stable working set with much free space shrinks it. Unlike the paper's, growing and
// shrinking keep the contents.
#pragma once

#include <cstdint>

namespace nearcache {

// Thresholds are shares of the gets of one interval; factors are above 1.
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
  uint64_t no_room;    // capacity and failing accesses, for lack of storage
  uint64_t returning;  // misses of keys that were asked for before
  uint64_t entries, index_capacity;
  uint64_t storage_bytes, free_bytes;
};

struct TunerAdvice {
  uint64_t index_capacity;  // unchanged where nothing is to be done
  uint64_t storage_bytes;
};

TunerAdvice advise(const TunerSettings& settings, const TunerView& view);

}  // namespace nearcache
