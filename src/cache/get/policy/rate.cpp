// SPDX-License-Identifier: BSD-3-Clause

// RATE, the default policy: keeps what saves the most time per get.
//
// The value of an entry is its expected hits per get times its cost, the measured L + size * G: the
// time that it will save per get from now on. The expectation follows from how often and how
// recently the key was requested, and from what was learned of keys of its size and of entries that
// were idle as long: reuse_rates.h. Victims are windows of neighbours in storage, because one large
// piece must become free rather than many small ones. A few random anchors each grow towards the
// cheaper neighbour until the newcomer fits, and the cheapest window is evicted, unless the
// newcomer is worth less. Scoring neighbours costs a third of scoring random slots, because their
// descriptors were filled together.
//
// Storage has a price: the mean value per byte of recent evictions. What a newcomer leaves unused
// of a window is credited at a fraction of that price, so that small entries can replace a large
// one that is worth more than each of them but less than all of them together (a halo exchange of
// large and small rows: 12 points). At the full price, errors of the estimates evict large entries
// for next to nothing (LCC: 2 to 3 points). Between nothing and a half, little changes elsewhere
// (0.4 points at most, on a graph that has just begun, matrices, scans, Zipf), so learning the
// fraction has nothing to gain.
//
// By how much a newcomer must be worth more than its victims is learned: inertia.h. Lines whose
// neighbours are mostly requested soon (lines.h) are admitted whatever they are worth: their past
// says how often they are used, not that they are about to be. Otherwise Barnes-Hut with storage
// for 12 lines saves 43% where LRU saves 62.
//
// What was tried and left out: more anchors (16 gain 2 points on popularity that drifts, 1 on
// matrices with random columns, nothing elsewhere, for three to four times the work of a miss that
// evicts; option `anchors` is there for those who can afford it), a fixed margin in favour of
// residents, another prior than the exponential (chosen by likelihood), a correction by age besides
// the one by idle time. Without the correction by idle time, a popular set that drifts loses 10 to
// 27 points of cost saved.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "cache/get/policy/policy_view.h"

namespace nearcache {
namespace {

constexpr float sampled_hits = 8;          // hits that a sampled one stands for
constexpr int longest_window = 16;         // entries; more would make one newcomer too expensive
constexpr double leftover_part = 1.0 / 3;  // of the price of storage
constexpr double price_weight = 1.0 / 64;  // weight of the last eviction in the price
constexpr uint32_t old_in_periods = 4;     // sketch periods after which an entry's past is halved

// Halves an entry's past, but not its idle time.
void halve_past(Entry& entry, uint32_t now) {
  const uint32_t age = now - entry.stamp, idle = entry.idle(now);
  entry.stamp = now - age / 2;
  entry.hits /= 2;
  entry.last_hit = Entry::coarse(age / 2 - std::min(idle, age / 2));
}

Situation situation_of(PolicyView cache, EntryId id) {
  Entry& entry = cache.entry(id);
  if (cache.now() - entry.stamp > old_in_periods * cache.sketch().period())
    halve_past(entry, cache.now());
  return {entry.size, entry.hits, cache.now() - entry.stamp, entry.idle(cache.now())};
}

double value(PolicyView cache, EntryId id) {
  return cache.reuse().rate(situation_of(cache, id)) * cache.cost_ns(cache.entry(id).size);
}

// A run of neighbours in address order whose storage is to hold the newcomer.
struct Window {
  EntryId first = no_entry, last = no_entry, anchor = no_entry;
  uint64_t bytes = 0;
  double value = 0;
  // its value less what the newcomer leaves unused, times the inertia: what the newcomer must
  // exceed
  double loss = 0;
};

class WindowSearch {
 public:
  WindowSearch(PolicyView cache, uint64_t bytes)
      : cache_(cache), bytes_(uint64_t{granules_of(bytes)} * granule_bytes) {}

  // Grows a window from `anchor`. Returns false if none with a loss below `limit` was found.
  bool grow(EntryId anchor, double limit, Window* window) {
    *window = {anchor, anchor, anchor, cache_.storage().room(anchor), value(cache_, anchor)};
    if (window->value >= limit && window->bytes < bytes_) return false;
    int entries = 1;
    take_free(window);
    while (window->bytes < bytes_) {
      if (window->value >= limit || ++entries > longest_window || !take_cheaper(window))
        return false;
      take_free(window);
    }
    window->loss = window->value - leftover_part * cache_.rate().price.of_byte() *
                                       static_cast<double>(window->bytes - bytes_);
    if (is_exchange(*window)) window->loss *= cache_.rate().inertia.factor();
    return window->loss < limit;
  }
  // Returns true if one newcomer takes the window, not one of several that it has room for: the
  // worth of several would not show in any one of them.
  bool is_exchange(const Window& window) const { return window.bytes < 2 * bytes_; }

 private:
  bool is_free(EntryId id) const {
    return id != no_entry && cache_.entry(id).state == State::free_space;
  }
  bool may_go(EntryId id) const { return id != no_entry && cache_.evictable(id); }

  void take_free(Window* window) {
    if (const EntryId id = cache_.entry(window->first).before; is_free(id))
      add(window, &window->first, id, 0);
    if (const EntryId id = cache_.entry(window->last).after; is_free(id))
      add(window, &window->last, id, 0);
  }

  // Adds the neighbour with the lower value per byte to the window.
  bool take_cheaper(Window* window) {
    const EntryId before = cache_.entry(window->first).before;
    const EntryId after = cache_.entry(window->last).after;
    if (!may_go(before) && !may_go(after)) return false;
    const double before_value = may_go(before) ? value(cache_, before) : 0;
    const double after_value = may_go(after) ? value(cache_, after) : 0;
    const bool take_before =
        may_go(before) &&
        (!may_go(after) || before_value * static_cast<double>(cache_.storage().room(after)) <=
                               after_value * static_cast<double>(cache_.storage().room(before)));
    if (take_before) {
      add(window, &window->first, before, before_value);
    } else {
      add(window, &window->last, after, after_value);
    }
    return true;
  }

  void add(Window* window, EntryId* end, EntryId id, double its_value) {
    *end = id;
    window->bytes += cache_.storage().room(id);
    window->value += its_value;
  }

  PolicyView cache_;
  uint64_t bytes_;
};

void evict_window(PolicyView cache, const Window& window) {
  EntryId ids[2 * longest_window + 2];
  int count = 0;
  for (EntryId id = window.first;; id = cache.entry(id).after) {
    if (cache.entry(id).state == State::cached) ids[count++] = id;
    if (id == window.last) break;
  }
  for (int i = 0; i < count; ++i) cache.evict(ids[i]);
}

class RatePolicy final : public Policy {
 public:
  void judge(PolicyView cache, Newcomer* newcomer) const override {
    // Drawn in advance, so that their descriptors are all fetched from memory at once.
    for (EntryId& id : cache.rate().drawn) id = cache.random_descriptor();
    ReuseRates& reuse = cache.reuse();
    cache.rate().inertia.asked(newcomer->hash);
    if (newcomer->past == 0) reuse.first(newcomer->bytes, cache.now());
    if (newcomer->past == 1) reuse.second(newcomer->bytes, cache.now());
    const uint32_t age = newcomer->past > 0 ? cache.sketch().memory_span() : 0;
    const double rate = reuse.rate({newcomer->bytes, newcomer->past, age, 0});
    newcomer->value = newcomer->due ? HUGE_VAL : rate * cache.cost_ns(newcomer->bytes);
    observe(cache);
    reuse.miss(cache.now());
  }

  void inserted(PolicyView cache, EntryId id, const Newcomer& newcomer) const override {
    Entry& entry = cache.entry(id);
    const uint32_t age = newcomer.past > 0 ? cache.sketch().memory_span() : 0;
    entry.hits = static_cast<uint8_t>(newcomer.past);  // counters end at 255
    entry.stamp = cache.now() - age;
    entry.last_hit = Entry::coarse(age);
  }

  // Called for first hits and for a sample of the others; GetCache::touch counts the remaining
  // ones.
  void touched(PolicyView cache, EntryId id) const override {
    Entry& entry = cache.entry(id);
    if (entry.hits == UINT8_MAX) halve_past(entry, cache.now() - 1);
    const uint32_t age = cache.now() - 1 - entry.stamp;
    if ((entry.flags & flag_was_hit) == 0) cache.rate().inertia.asked(hash_key(entry.key()));
    if (entry.hits == 0) cache.reuse().second(entry.size, cache.now());
    if (cache.hit_is_sampled())
      cache.reuse().hit({entry.size, entry.hits, age, entry.idle(cache.now() - 1)}, sampled_hits);
    ++entry.hits;
    entry.last_hit = Entry::coarse(cache.now() - entry.stamp);
  }

  void removed(PolicyView cache, EntryId id) const override {
    const Entry& entry = cache.entry(id);
    if ((entry.flags & flag_was_hit) != 0) cache.sketch().raise(hash_key(entry.key()), entry.hits);
  }

  EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                          const Newcomer& newcomer) const override {
    return least_on_path(cache, path, count, newcomer.value,
                         [&](EntryId id) { return value(cache, id); });
  }

  bool make_room(PolicyView cache, const Newcomer& newcomer) const override {
    WindowSearch search(cache, newcomer.bytes);
    Window best;
    double limit = newcomer.value;
    for (uint32_t i = 0; i < cache.anchors(); ++i) {
      const EntryId anchor =
          i < std::size(cache.rate().drawn) && cache.evictable(cache.rate().drawn[i])
              ? cache.rate().drawn[i]
              : cache.random_entry();
      Window window;
      if (anchor == no_entry || !search.grow(anchor, limit, &window)) continue;
      best = window;
      limit = window.loss;
      if (limit <= 0) break;
    }
    if (best.first == no_entry) return false;
    cache.rate().price.paid(best.value, static_cast<double>(best.bytes), price_weight);
    if (search.is_exchange(best))
      cache.rate().inertia.exchanged(hash_key(cache.entry(best.anchor).key()), newcomer.hash);
    evict_window(cache, best);
    return true;
  }

 private:
  // A random entry stands for all descriptors during the gets since the last observation.
  static void observe(PolicyView cache) {
    const uint64_t gets = cache.gets_since_observed();
    if (cache.storage().descriptors_touched() == 0) return;
    const EntryId id = cache.rate().drawn[0];
    if (!cache.evictable(id)) return;
    cache.look_at(id);
    const auto all = static_cast<float>(cache.storage().descriptors_touched());
    cache.reuse().exposed(situation_of(cache, id), all * static_cast<float>(gets));
  }
};

}  // namespace

const Policy& rate_policy() {
  static const RatePolicy policy;
  return policy;
}

}  // namespace nearcache
