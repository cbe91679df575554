// SPDX-License-Identifier: BSD-3-Clause

// What any cache could save, with hindsight: the yardstick for policies.
//
//   infinite     an infinite cache: no cache of any size saves more.
//   best fixed   the best fixed set of keys: those with the highest cost of repeated gets per byte,
//                chosen with hindsight (greedily: the underlying knapsack problem is NP-hard),
//                loaded at their first use and never evicted.
//   clairvoyant  a schedule that knows the future. Between two successive gets of a key its bytes
//                may be kept or not; keeping them saves the second get and takes room for the time
//                between. Intervals are chosen greedily by cost saved per byte and per get in the
//                interval, each if it fits at every moment of its span beside those already chosen
//                (cf. Albers, Arora, Khanna, SODA 1999; Berger, Beckmann, Harchol-Balter,
//                SIGMETRICS 2018).
//
// The last two can be carried out by a cache, so they are lower bounds on what the best cache
// saves; finding the best itself is NP-hard for variable sizes. Bytes are counted in granules of
// the storage; fragmentation and the index are ignored. Data that is no longer valid
// (synchronisation, invalidation, own writes) is fetched again by all three.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/cost.h"
#include "simulate/reuse.h"

namespace nearcache::simulate {

struct Bound {
  uint64_t hits = 0, hit_bytes = 0;  // gets served completely; bytes served
  double saved_ns(const Cost& cost) const { return cost.of(hits, hit_bytes); }
  Bound& operator+=(const Bound& other) {
    hits += other.hits;
    hit_bytes += other.hit_bytes;
    return *this;
  }
};

class Bounds {
 public:
  // Sorts once, after which evaluating any storage size is cheap. Traces with more than
  // `most_moments` gets use time steps of several gets, which keeps the schedule feasible and its
  // memory small.
  Bounds(Reuse reuse, const Cost& cost, uint64_t most_moments = uint64_t{1} << 21);

  Bound infinite() const { return {reuse_.hits, reuse_.hit_bytes}; }
  Bound best_fixed(uint64_t storage_bytes) const;
  Bound clairvoyant(uint64_t storage_bytes) const;
  const Reuse& reuse() const { return reuse_; }

 private:
  Reuse reuse_;
  uint64_t step_ = 1;  // gets per time step
};

}  // namespace nearcache::simulate
