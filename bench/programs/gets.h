// Sequences of gets that several measurements replay: CLaMPI's micro-benchmark, and one rank's
// share of LCC.
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
  std::size_t distinct = 0, distinct_bytes = 0;  // of the places that the sequence asks for
};

constexpr int largest_power = 16;  // of the micro-benchmark's sizes

// CLaMPI's section IV.A: `count` places of 2^0..2^16 bytes, one after the other, and an index into
// them drawn from N(count/2, count/4) cut to the range by drawing again.
std::vector<Place> places(int count, Random& random);
int normal_index(int count, Random& random);
Gets normal_gets(int count, std::int64_t samples, std::uint64_t seed);

// The neighbour lists that the first of 32 ranks fetches to count triangles, vertex by vertex, of
// an R-MAT graph of 2^scale vertices and 16 edges a vertex (a = 0.57, b = c = 0.19), lists of
// 32-bit ids in one window.
Gets lcc_gets(int scale, std::uint64_t seed);

}  // namespace bench
#endif
