// The get cache as its policies see it: entries, what is known about them, and what a policy may do
// to them.
#pragma once

#include "cache/get/get_cache.h"

namespace nearcache {

// A reference, to be passed by value.
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
  // Gets since this was last asked.
  uint64_t gets_since_observed() const {
    return cache_.now_ - std::exchange(cache_.observed_at_, cache_.now_);
  }
  uint64_t average_bytes() const { return cache_.average_bytes(); }
  double cost_ns(uint64_t bytes) const { return cache_.cost_ns(bytes); }
  bool hit_is_sampled() const { return cache_.hit_is_sampled(); }

  bool evictable(EntryId id) const { return cache_.evictable(id); }
  void evict(EntryId id) const { cache_.evict(id); }
  // rate: an entry drawn at random; if it has not been hit and has waited for too long, it counts
  // as not worth its copy.
  void look_at(EntryId id) const { cache_.look_at(id); }

  uint32_t random() const { return cache_.random(); }
  EntryId random_descriptor() const { return cache_.random_descriptor(); }
  EntryId random_entry() const { return cache_.random_entry(); }

  // Do the first `count` queues hold all entries, each in the queue that its flags name? What is
  // wrong, or null.
  const char* check_queues(int count) const { return cache_.check_queues(count); }

 private:
  GetCache& cache_;
};

// The entry of a path in the index that is worth least, or no_entry if none is worth less than
// `bound`. What an entry is worth is `worth(id)`.
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
