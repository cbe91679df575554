// SPDX-License-Identifier: BSD-3-Clause

// Exact least recently used, for comparison: evicts from the cold end until the newcomer fits.
#include "cache/get/policy/policy_view.h"

namespace nearcache {
namespace {

class LruPolicy final : public Policy {
 public:
  void judge(PolicyView, Newcomer* newcomer) const override { newcomer->value = 0; }
  void inserted(PolicyView cache, EntryId id, const Newcomer&) const override {
    put_first(cache, id);
  }
  void removed(PolicyView cache, EntryId id) const override {
    cache.queues().queue[0].take_out(cache.links(), id, cache.storage().room(id));
  }
  void touched(PolicyView cache, EntryId id) const override {
    removed(cache, id);
    put_first(cache, id);
  }
  void extended(PolicyView cache, EntryId, uint64_t more) const override {
    cache.queues().queue[0].bytes += more;
  }

  EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                          const Newcomer&) const override {
    EntryId victim = no_entry;
    for (int i = 0; i < count; ++i) {
      const EntryId id = path[i];
      if (!cache.evictable(id)) continue;
      if (victim == no_entry ||
          cache.now() - cache.entry(id).stamp > cache.now() - cache.entry(victim).stamp)
        victim = id;
    }
    return victim;
  }

  bool make_room(PolicyView cache, const Newcomer& newcomer) const override {
    uint64_t largest = 0;
    bool evicted = false;
    const uint64_t wanted = uint64_t{granules_of(newcomer.bytes)} * granule_bytes;
    for (EntryId id = cache.queues().queue[0].last; id != no_entry && largest < wanted;) {
      const EntryId next = cache.links()[id].before;
      if (cache.evictable(id)) {
        largest = cache.storage().room(id) + cache.storage().free_around(id);
        cache.evict(id);
        evicted = true;
      }
      id = next;
    }
    return evicted;
  }

  const char* check(PolicyView cache) const override { return cache.check_queues(1); }

 private:
  static void put_first(PolicyView cache, EntryId id) {
    cache.entry(id).stamp = cache.now();
    cache.queues().queue[0].push_front(cache.links(), id, cache.storage().room(id));
  }
};

}  // namespace

const Policy& lru_policy() {
  static const LruPolicy policy;
  return policy;
}

}  // namespace nearcache
