// Exact least recently used, for comparison: evicts from the cold end until the newcomer fits.
#include "cache/get_cache.h"

namespace nearcache {
namespace {

class LruPolicy final : public Policy {
 public:
  void judge(GetCache&, Newcomer* newcomer) const override { newcomer->value = 0; }
  void inserted(GetCache& cache, EntryId id, const Newcomer&) const override { push_front(cache, id); }
  void removed(GetCache& cache, EntryId id) const override { take_out(cache, id); }
  void touched(GetCache& cache, EntryId id) const override {
    take_out(cache, id);
    push_front(cache, id);
  }

  EntryId conflict_victim(GetCache& cache, const EntryId* path, int count, const Newcomer&) const override {
    EntryId victim = no_entry;
    for (int i = 0; i < count; ++i) {
      const EntryId id = path[i];
      if (!cache.evictable(id)) continue;
      if (victim == no_entry || cache.now() - cache.entry(id).stamp > cache.now() - cache.entry(victim).stamp) victim = id;
    }
    return victim;
  }

  bool make_room(GetCache& cache, const Newcomer& newcomer) const override {
    uint64_t largest = 0;
    bool evicted = false;
    const uint64_t wanted = uint64_t{granules_of(newcomer.bytes)} * granule_bytes;
    for (EntryId id = cache.lru_last; id != no_entry && largest < wanted;) {
      const EntryId next = cache.lru(id).before;
      if (cache.evictable(id)) {
        largest = cache.storage().room(id) + cache.storage().free_around(id);
        cache.evict(id);
        evicted = true;
      }
      id = next;
    }
    return evicted;
  }

 private:
  static void push_front(GetCache& cache, EntryId id) {
    cache.entry(id).stamp = cache.now();
    cache.lru(id) = {no_entry, cache.lru_first};
    (cache.lru_first == no_entry ? cache.lru_last : cache.lru(cache.lru_first).before) = id;
    cache.lru_first = id;
  }
  static void take_out(GetCache& cache, EntryId id) {
    const GetCache::LruLinks links = cache.lru(id);
    (links.before == no_entry ? cache.lru_first : cache.lru(links.before).after) = links.after;
    (links.after == no_entry ? cache.lru_last : cache.lru(links.after).before) = links.before;
  }
};

}  // namespace

const Policy& lru_policy() {
  static const LruPolicy policy;
  return policy;
}

}  // namespace nearcache
