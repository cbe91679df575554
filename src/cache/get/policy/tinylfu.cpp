// SPDX-License-Identifier: BSD-3-Clause

// W-TinyLFU (Einziger, Friedman, Manes, ACM Transactions on Storage 2017), for comparison.
//
// Newcomers enter a small LRU window. An entry that falls out of it is a candidate for the main
// part, a segmented LRU (probation, protected), and must win a contest against the main part's next
// victim. Since gets differ in size and cost, the contest is by frequency * cost / bytes, as in the
// size-aware form of Einziger, Eytan, Friedman and Manes (ACM Transactions on Storage 2022), with
// the frequency from the cache's sketch. A newcomer larger than the window is itself the candidate;
// if it loses, it is not cached.
#include <algorithm>

#include "cache/get/policy/policy_view.h"

namespace nearcache {
namespace {

enum Segment : uint8_t { window, probation, protected_part };
// 1% of the storage, as in the paper's general-purpose setting
constexpr uint64_t window_share = 100;
constexpr double protected_share = 0.8;

uint64_t window_limit(PolicyView cache) { return cache.storage().bytes() / window_share; }

Segment segment_of(PolicyView cache, EntryId id) {
  return static_cast<Segment>((cache.entry(id).flags & flags_segment) >> segment_shift);
}

void enter(PolicyView cache, EntryId id, Segment segment) {
  Entry& entry = cache.entry(id);
  entry.flags = ((entry.flags & ~flags_segment) | (segment << segment_shift)) & flags_all;
  cache.queues().queue[segment].push_front(cache.links(), id, cache.storage().room(id));
}

void leave(PolicyView cache, EntryId id) {
  cache.queues().queue[segment_of(cache, id)].take_out(cache.links(), id, cache.storage().room(id));
}

void move(PolicyView cache, EntryId id, Segment segment) {
  leave(cache, id);
  enter(cache, id, segment);
}

double density(PolicyView cache, uint64_t hash, uint64_t bytes) {
  return (cache.sketch().count(hash) + 1) * cache.cost_ns(bytes) /
         std::max<uint32_t>(granules_of(bytes), 1);
}

double density(PolicyView cache, EntryId id) {
  const Entry& entry = cache.entry(id);
  return density(cache, hash_key(entry.key()), entry.size);
}

// Returns the least recently used entry of a segment that may be evicted.
EntryId coldest(PolicyView cache, Segment segment) {
  EntryId id = cache.queues().queue[segment].last;
  while (id != no_entry && !cache.evictable(id)) id = cache.links()[id].before;
  return id;
}

EntryId main_victim(PolicyView cache) {
  const EntryId id = coldest(cache, probation);
  return id != no_entry ? id : coldest(cache, protected_part);
}

class TinyLfuPolicy final : public Policy {
 public:
  void judge(PolicyView cache, Newcomer* newcomer) const override {
    newcomer->value = density(cache, newcomer->hash, newcomer->bytes);
  }

  void inserted(PolicyView cache, EntryId id, const Newcomer&) const override {
    cache.entry(id).stamp = cache.now();
    // An entry larger than the window has won its contest, or there was none.
    enter(cache, id, cache.storage().room(id) > window_limit(cache) ? probation : window);
    // While the storage has room, the window's overflow moves on without a contest.
    while (cache.queues().queue[window].bytes > window_limit(cache)) {
      move(cache, cache.queues().queue[window].last, probation);
    }
  }
  void removed(PolicyView cache, EntryId id) const override { leave(cache, id); }
  void extended(PolicyView cache, EntryId id, uint64_t more) const override {
    cache.queues().queue[segment_of(cache, id)].bytes += more;
  }

  void touched(PolicyView cache, EntryId id) const override {
    Entry& entry = cache.entry(id);
    entry.stamp = cache.now();
    cache.sketch().advance(cache.gets());
    cache.sketch().add(hash_key(entry.key()), 1);
    move(cache, id, segment_of(cache, id) == window ? window : protected_part);
    const auto limit =
        static_cast<uint64_t>(protected_share * static_cast<double>(cache.storage().bytes()));
    Queue& kept = cache.queues().queue[protected_part];
    while (kept.bytes > limit && kept.first != kept.last) move(cache, kept.last, probation);
  }

  EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                          const Newcomer& newcomer) const override {
    return least_on_path(cache, path, count, newcomer.value,
                         [&](EntryId id) { return density(cache, id); });
  }

  bool make_room(PolicyView cache, const Newcomer& newcomer) const override {
    const uint64_t wanted = uint64_t{granules_of(newcomer.bytes)} * granule_bytes;
    const bool passes_window = wanted <= window_limit(cache);
    uint64_t largest = 0;
    bool evicted = false;
    while (largest < wanted) {
      const EntryId victim = passes_window ? contest(cache, wanted) : main_victim(cache);
      if (victim == no_entry) break;
      if (!passes_window && newcomer.value <= density(cache, victim)) return false;
      largest = cache.storage().room(victim) + cache.storage().free_around(victim);
      cache.evict(victim);
      evicted = true;
    }
    return evicted;
  }

  const char* check(PolicyView cache) const override { return cache.check_queues(3); }

 private:
  // Chooses the victim for a newcomer that enters the window: if the window overflows, the loser
  // between its coldest entry and the main part's victim. If the coldest entry wins, it moves to
  // the main part.
  static EntryId contest(PolicyView cache, uint64_t wanted) {
    const EntryId victim = main_victim(cache);
    const EntryId candidate = coldest(cache, window);
    const bool overflows = cache.queues().queue[window].bytes + wanted > window_limit(cache);
    if (victim == no_entry ||
        (candidate != no_entry && overflows && density(cache, candidate) <= density(cache, victim)))
      return candidate;
    if (candidate != no_entry && overflows) move(cache, candidate, probation);
    return victim;
  }
};

}  // namespace

const Policy& tinylfu_policy() {
  static const TinyLfuPolicy policy;
  return policy;
}

}  // namespace nearcache
