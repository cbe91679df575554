// What the cache has learned, per power of two of size, about gets of that size being asked for again.
#pragma once

#include <cstdint>

#include "cache/cost_model.h"

namespace nearcache {

class Worth {
 public:
  // The rate (per get) at which entries that were not hit yet get their first hit: RATE's r_class.
  double first_hit_rate(uint64_t bytes) const {
    const Class& c = classes_[CostModel::class_of(bytes)];
    return (c.first_hits + 1) / (c.exposure + prior_gets);
  }
  // An entry got its first hit, or left without one, after `age` gets.
  void first_hit(uint64_t bytes, bool seen, uint32_t age) {
    Class& c = classes_[CostModel::class_of(bytes)];
    c.first_hits += 1;
    c.exposure += age;
    c.kinds[seen].hit += 1;
    fade(&c);
  }
  void never_hit(uint64_t bytes, uint32_t age) {
    Class& c = classes_[CostModel::class_of(bytes)];
    c.exposure += age;
    fade(&c);
  }
  void stored(uint64_t bytes, bool seen) {
    Kind& kind = classes_[CostModel::class_of(bytes)].kinds[seen];
    kind.stored += 1;
    if (kind.stored > 512) kind.stored /= 2, kind.hit /= 2;
  }

  // Storing costs a copy of the data; it pays if the chance of a hit times what a hit saves is more. Every 16th get that
  // does not seem worth it is stored all the same, to go on learning.
  bool worth_storing(uint64_t bytes, bool seen, double remote_ns, double copy_ns) {
    const Kind& kind = classes_[CostModel::class_of(bytes)].kinds[seen];
    const double chance = (kind.hit + prior_hits) / (kind.stored + 2 * prior_hits);
    if (chance * remote_ns > copy_ns) return true;
    return ++skipped_ % 16 == 0;
  }

 private:
  static constexpr double prior_gets = 1000;  // until something is known, a first hit is expected within so many gets
  static constexpr float prior_hits = 8;      // and half of what is stored is expected to be hit

  struct Kind {
    float stored = 0, hit = 0;
  };
  struct Class {
    double first_hits = 0, exposure = 0;
    Kind kinds[2];  // keys never seen, keys seen before
  };

  static void fade(Class* c) {
    if (c->first_hits < 1024 && c->exposure < 1e8) return;
    c->first_hits /= 2;
    c->exposure /= 2;
  }

  Class classes_[CostModel::size_classes];
  uint32_t skipped_ = 0;
};

}  // namespace nearcache
