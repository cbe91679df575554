// SPDX-License-Identifier: BSD-3-Clause

// The get cache as its policies see it: the entries, what is known about them, and what a policy
// may do to them.
#pragma once

#include "cache/get/get_cache.h"

namespace nearcache {

// A reference, passed by value.
class PolicyView {
 public:
  explicit PolicyView(GetCache& cache) : cache_(cache) {}

  Entry& entry(EntryId id) const { return cache_.entries_[id]; }
  Storage& storage() const { return cache_.storage_; }
  Index& index() const { return cache_.index_; }
  Sketch& sketch() const { return cache_.sketch_; }
  ReuseRates& reuse() const { return cache_.reuse_; }
  RateMemory& rate() const { return cache_.rate_; }
  PolicyQueues& queues() const { return cache_.queues_; }
  QueueLinks* links() const { return cache_.links_.get(); }
  uint32_t sample() const { return cache_.sample_; }
  uint32_t anchors() const { return cache_.anchors_; }

  uint32_t now() const { return cache_.now(); }
  uint64_t gets() const { return cache_.now_; }
  // Returns the number of gets since the last call.
  uint64_t gets_since_observed() const {
    return cache_.now_ - std::exchange(cache_.observed_at_, cache_.now_);
  }
  uint64_t average_bytes() const { return cache_.average_bytes(); }
  double cost_ns(uint64_t bytes) const { return cache_.cost_ns(bytes); }
  bool hit_is_sampled() const { return cache_.hit_is_sampled(); }

  bool evictable(EntryId id) const { return cache_.evictable(id); }
  void evict(EntryId id) const { cache_.evict(id); }
  // rate: examines an entry drawn at random. If it has waited too long without a hit, it counts as
  // not worth its copy.
  void look_at(EntryId id) const { cache_.look_at(id); }

  uint32_t random() const { return cache_.random(); }
  EntryId random_descriptor() const { return cache_.random_descriptor(); }
  EntryId random_entry() const { return cache_.random_entry(); }

  // Checks that the first `count` queues hold all entries, each in the queue that its flags name.
  // Returns what is wrong, or null.
  const char* check_queues(int count) const { return cache_.check_queues(count); }

 private:
  GetCache& cache_;
};

// Returns the entry on a path in the index with the least worth(id), or no_entry if none is below
// `bound`.
template <typename Worth>
EntryId least_on_path(PolicyView cache, const EntryId* path, int count, double bound, Worth worth) {
  EntryId victim = no_entry;
  for (int i = 0; i < count; ++i) {
    if (!cache.evictable(path[i])) continue;
    const double its = worth(path[i]);
    if (its < bound) bound = its, victim = path[i];
  }
  return victim;
}

}  // namespace nearcache
