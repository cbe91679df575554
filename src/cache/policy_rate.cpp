// RATE, the default: keep what saves most time per get.
//
// An entry is worth (hits + 1) / (age + 1/r) * cost, with r the rate of first hits of its size class and cost the
// measured L + size * G: the time it is expected to save per get from now on. Victims are windows of neighbours in
// storage, since one large piece must come free, not many small ones: a few random anchors each grow towards the
// cheaper neighbour until the newcomer fits, and the cheapest window goes - unless the newcomer is worth less.
// Scoring neighbours costs a third of scoring random slots: their descriptors were filled together.
#include <algorithm>

#include "cache/get_cache.h"

namespace nearcache {
namespace {

constexpr int longest_window = 16;       // entries; more would make one newcomer too expensive
constexpr uint32_t old_in_periods = 4;   // sketch periods after which an entry's past is halved

double value_of(double hits, double age, double first_hit_rate, double cost) {
  return (hits + 1) / (age + 1 / first_hit_rate) * cost;
}

double value(GetCache& cache, EntryId id) {
  Entry& entry = cache.entry(id);
  if (cache.is_stale(id)) return 0;
  uint32_t age = cache.now() - entry.stamp;
  if (age > old_in_periods * cache.sketch().period()) {
    age /= 2;
    entry.stamp = cache.now() - age;
    entry.hits /= 2;
  }
  return value_of(entry.hits, age, cache.worth().first_hit_rate(entry.size), cache.cost_ns(entry.size));
}

// A run of neighbours in address order whose storage would hold the newcomer.
struct Window {
  EntryId first = no_entry, last = no_entry;
  uint64_t bytes = 0;
  double value = 0;
};

class WindowSearch {
 public:
  WindowSearch(GetCache& cache, uint64_t bytes) : cache_(cache), bytes_(uint64_t{granules_of(bytes)} * granule_bytes) {}

  // Grows from `anchor`; false if no window below `limit` was found.
  bool grow(EntryId anchor, double limit, Window* window) {
    *window = {anchor, anchor, cache_.storage().room(anchor), value(cache_, anchor)};
    if (window->value >= limit) return false;
    int entries = 1;
    take_free(window);
    while (window->bytes < bytes_) {
      if (window->value >= limit || ++entries > longest_window || !take_cheaper(window)) return false;
      take_free(window);
    }
    return window->value < limit;
  }

 private:
  bool is_free(EntryId id) const { return id != no_entry && cache_.entry(id).state == State::free_space; }
  bool may_go(EntryId id) const { return id != no_entry && cache_.evictable(id); }

  void take_free(Window* window) {
    if (const EntryId id = cache_.entry(window->first).before; is_free(id)) add(window, &window->first, id, 0);
    if (const EntryId id = cache_.entry(window->last).after; is_free(id)) add(window, &window->last, id, 0);
  }

  // The neighbour with the lower value per byte joins the window.
  bool take_cheaper(Window* window) {
    const EntryId before = cache_.entry(window->first).before;
    const EntryId after = cache_.entry(window->last).after;
    if (!may_go(before) && !may_go(after)) return false;
    const double before_value = may_go(before) ? value(cache_, before) : 0;
    const double after_value = may_go(after) ? value(cache_, after) : 0;
    const bool take_before =
        may_go(before) && (!may_go(after) || before_value * static_cast<double>(cache_.storage().room(after)) <=
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

  GetCache& cache_;
  uint64_t bytes_;
};

void evict_window(GetCache& cache, const Window& window) {
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
  void judge(GetCache& cache, Newcomer* newcomer) const override {
    const double hits = newcomer->past;
    const double age = hits > 0 ? cache.sketch().memory_span() : 0;
    newcomer->value =
        value_of(hits, age, cache.worth().first_hit_rate(newcomer->bytes), cache.cost_ns(newcomer->bytes));
  }

  void inserted(GetCache& cache, EntryId id, const Newcomer& newcomer) const override {
    Entry& entry = cache.entry(id);
    entry.hits = static_cast<uint16_t>(newcomer.past);
    entry.stamp = entry.hits > 0 ? cache.now() - cache.sketch().memory_span() : cache.now();
  }

  // Only the first hit comes here; further ones are counted in GetCache::touch.
  void touched(GetCache& cache, EntryId id) const override {
    Entry& entry = cache.entry(id);
    const bool seen = entry.hits > 0;
    const uint32_t age = seen ? 0 : cache.now() - entry.stamp;
    cache.worth().first_hit(entry.size, seen, age);
    entry.flags |= flag_was_hit;
    if (entry.hits != UINT16_MAX) ++entry.hits;
  }

  void removed(GetCache& cache, EntryId id) const override {
    const Entry& entry = cache.entry(id);
    if ((entry.flags & flag_was_hit) == 0) {
      if (entry.hits == 0) cache.worth().never_hit(entry.size, cache.now() - entry.stamp);
      return;
    }
    cache.sketch().raise(hash_key(entry.key()), entry.hits);
  }

  EntryId conflict_victim(GetCache& cache, const EntryId* path, int count, const Newcomer& newcomer) const override {
    EntryId victim = no_entry;
    double least = newcomer.value;
    for (int i = 0; i < count; ++i) {
      if (!cache.evictable(path[i])) continue;
      const double its = value(cache, path[i]);
      if (its < least) least = its, victim = path[i];
    }
    return victim;
  }

  bool make_room(GetCache& cache, const Newcomer& newcomer) const override {
    WindowSearch search(cache, newcomer.bytes);
    Window best;
    double limit = newcomer.value;
    // Drawn ahead, so that their descriptors come from memory all at once.
    EntryId drawn[4];
    for (EntryId& id : drawn) id = cache.random_descriptor();
    for (uint32_t i = 0; i < cache.anchors(); ++i) {
      const EntryId anchor = i < 4 && cache.evictable(drawn[i]) ? drawn[i] : cache.random_entry();
      Window window;
      if (anchor == no_entry || !search.grow(anchor, limit, &window)) continue;
      best = window;
      limit = window.value;
      if (limit == 0) break;
    }
    if (best.first == no_entry) return false;
    evict_window(cache, best);
    return true;
  }
};

}  // namespace

const Policy& rate_policy() {
  static const RatePolicy policy;
  return policy;
}

}  // namespace nearcache
