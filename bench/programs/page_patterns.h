// SPDX-License-Identifier: BSD-3-Clause

// Accesses of programs to other PEs' memory, as the page cache sees them: loops, tables, matrices,
// grids, graphs, particles.
#ifndef NEARCACHE_BENCH_PAGE_PATTERNS_H
#define NEARCACHE_BENCH_PAGE_PATTERNS_H

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Access {
  // quiet: completes all writes; barrier: also makes all data read so far stale
  enum Kind : std::uint8_t { get, put, atomic, quiet, barrier };
  Kind kind;
  std::uint8_t pe;
  std::uint32_t bytes;
  std::uint64_t address;
};

struct Pattern {
  std::string name;
  double think_ns;  // between two accesses
  bool prefetched;  // the program prefetches, as far ahead as the cache advises
  std::vector<Access> accesses;
};

inline constexpr std::uint64_t page_pattern_bytes = 64 << 20;  // all addresses are below this

std::vector<Pattern> page_patterns();

}  // namespace bench
#endif
