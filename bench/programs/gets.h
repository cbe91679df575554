// SPDX-License-Identifier: BSD-3-Clause

// Sequences of gets that several benchmarks replay: CLaMPI's micro-benchmark, and one rank's share
// of LCC.
#ifndef NEARCACHE_BENCH_GETS_H
#define NEARCACHE_BENCH_GETS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench.h"

namespace bench {

struct Place {
  std::size_t displacement;
  int size;
};

struct Gets {
  std::vector<Place> sequence;
  std::size_t window_bytes = 0;
  std::size_t distinct = 0, distinct_bytes = 0;  // counts each place in the sequence once
};

constexpr int largest_power = 16;  // log2 of the micro-benchmark's largest size

// CLaMPI's section IV.A. places() returns `count` contiguous places of 2^0..2^16 bytes;
// normal_index() draws an index into them from N(count/2, count/4), truncated to the range by
// redrawing.
std::vector<Place> places(int count, Random& random);
int normal_index(int count, Random& random);
Gets normal_gets(int count, std::int64_t samples, std::uint64_t seed);

// Returns the neighbour lists that the first of 32 ranks fetches to count triangles, vertex by
// vertex, in an R-MAT graph of 2^scale vertices with 16 edges per vertex (a = 0.57, b = c = 0.19).
// The lists consist of 32-bit ids and are in one window.
Gets lcc_gets(int scale, std::uint64_t seed);

}  // namespace bench
#endif
