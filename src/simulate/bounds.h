// What any cache could save, known with hindsight: the yardstick for policies.
//
//   infinite     an infinite cache: no cache of whatever size saves more.
//   best fixed   the best fixed set of keys: those with the highest cost of repeated gets per byte,
//                chosen with hindsight (greedily: the knapsack problem behind it is NP-hard),
//                loaded at their first use and never evicted.
//   clairvoyant  a schedule that knows the future. Between two successive gets of a key its bytes
//                may be kept or not; keeping them saves the second get and takes room for the time
//                between. Intervals are taken greedily by cost saved per byte and get of time, each
//                if it fits beside those taken before at every moment of its span (cf. Albers,
//                Arora, Khanna, SODA 1999; Berger, Beckmann, Harchol-Balter, SIGMETRICS 2018).
//
// The last two can be carried out by a cache, so they are lower bounds of what the best cache
// saves: finding the best itself is NP-hard for variable sizes. Bytes count in the storage's
// granules; fragmentation and the index do not count. What is no longer valid (synchronisation,
// invalidation, own writes) is fetched again by all three.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/cost.h"
#include "simulate/reuse.h"

namespace nearcache::simulate {

struct Bound {
  uint64_t hits = 0, hit_bytes = 0;  // gets served whole; bytes served
  double saved_ns(const Cost& cost) const { return cost.of(hits, hit_bytes); }
  Bound& operator+=(const Bound& other) {
    hits += other.hits;
    hit_bytes += other.hit_bytes;
    return *this;
  }
};

class Bounds {
 public:
  // Sorts once; then every storage is cheap. `most_moments`: longer traces see time in steps of
  // several gets, which keeps the schedule feasible and its memory small.
  Bounds(Reuse reuse, const Cost& cost, uint64_t most_moments = uint64_t{1} << 21);

  Bound infinite() const { return {reuse_.hits, reuse_.hit_bytes}; }
  Bound best_fixed(uint64_t storage_bytes) const;
  Bound clairvoyant(uint64_t storage_bytes) const;
  const Reuse& reuse() const { return reuse_; }

 private:
  Reuse reuse_;
  uint64_t step_ = 1;  // gets in one step of time
};

}  // namespace nearcache::simulate
