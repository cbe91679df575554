// SPDX-License-Identifier: BSD-3-Clause

// SIEVE (Zhang, Yang, Yue, Vigfusson, Rashmi, NSDI 2024), for comparison.
//
// Entries are queued in the order of their arrival; a hit sets a bit and moves nothing. A hand
// moves from the oldest entry to the newest: it clears bits that are set, evicts the first entry
// whose bit is clear, and stays there. Since entries differ in size, it continues until one free
// piece is large enough for the newcomer, as in the paper's variable-size form.
#include "cache/get/policy/policy_view.h"

namespace nearcache {
namespace {

class SievePolicy final : public Policy {
 public:
  void judge(PolicyView, Newcomer* newcomer) const override { newcomer->value = 0; }
  void inserted(PolicyView cache, EntryId id, const Newcomer&) const override {
    cache.entry(id).stamp = cache.now();
    forget_visit(cache, id);
    cache.queues().queue[0].push_front(cache.links(), id, cache.storage().room(id));
  }
  void removed(PolicyView cache, EntryId id) const override {
    if (cache.queues().hand == id) cache.queues().hand = cache.links()[id].before;
    cache.queues().queue[0].take_out(cache.links(), id, cache.storage().room(id));
  }
  void touched(PolicyView cache, EntryId id) const override {
    cache.entry(id).flags |= flag_visited;
  }
  void extended(PolicyView cache, EntryId, uint64_t more) const override {
    cache.queues().queue[0].bytes += more;
  }

  // Returns the oldest entry of the path that was not hit since the hand passed, or else the oldest
  // one.
  EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                          const Newcomer&) const override {
    EntryId victim = no_entry;
    const auto rank = [&](EntryId id) {
      const uint64_t age = cache.now() - cache.entry(id).stamp;
      return (is_visited(cache, id) ? 0 : uint64_t{1} << 32) + age;
    };
    for (int i = 0; i < count; ++i) {
      if (cache.evictable(path[i]) && (victim == no_entry || rank(path[i]) > rank(victim)))
        victim = path[i];
    }
    return victim;
  }

  bool make_room(PolicyView cache, const Newcomer& newcomer) const override {
    uint64_t largest = 0;
    bool evicted = false;
    const uint64_t wanted = uint64_t{granules_of(newcomer.bytes)} * granule_bytes;
    while (largest < wanted) {
      const EntryId victim = advance(cache);
      if (victim == no_entry) break;
      largest = cache.storage().room(victim) + cache.storage().free_around(victim);
      cache.evict(victim);
      evicted = true;
    }
    return evicted;
  }

  const char* check(PolicyView cache) const override { return cache.check_queues(1); }

 private:
  static bool is_visited(PolicyView cache, EntryId id) {
    return (cache.entry(id).flags & flag_visited) != 0;
  }

  static void forget_visit(PolicyView cache, EntryId id) {
    if (is_visited(cache, id)) cache.entry(id).flags ^= flag_visited;
  }

  // Moves the hand to the next victim. Two rounds clear every bit; if there is none by then,
  // nothing can be evicted.
  static EntryId advance(PolicyView cache) {
    EntryId& hand = cache.queues().hand;
    for (int wraps = 0; wraps <= 2;) {
      if (hand == no_entry) {
        hand = cache.queues().queue[0].last;
        if (hand == no_entry) return no_entry;
        ++wraps;
      }
      if (cache.evictable(hand)) {
        if (!is_visited(cache, hand)) return hand;
        forget_visit(cache, hand);
      }
      hand = cache.links()[hand].before;
    }
    return no_entry;
  }
};

}  // namespace

const Policy& sieve_policy() {
  static const SievePolicy policy;
  return policy;
}

}  // namespace nearcache
