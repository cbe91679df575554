// SPDX-License-Identifier: BSD-3-Clause

// What traces contain: for each window, what was requested, how often it repeats, in what sizes,
// and how much was written.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "simulate/study.h"

namespace nearcache::simulate {

// The first and last time of something, in ns of CLOCK_REALTIME, so that ranks can be compared.
struct Span {
  uint64_t first = UINT64_MAX, last = 0;
  bool empty() const { return first > last; }
  void add(uint64_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
  void add(const Span& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

// Facts about a window, for one rank or summed over ranks.
struct WindowFacts {
  static constexpr int size_classes = 64;

  uint64_t gets = 0, bytes = 0, own_gets = 0;
  uint64_t distinct_keys = 0, distinct_bytes = 0;
  std::map<uint64_t, uint64_t> repeats;  // number of keys by how often they were requested
  // gets of at most 2^i bytes and more than 2^(i-1); their bytes
  std::array<uint64_t, size_classes> sizes{}, size_bytes{};
  std::array<uint64_t, outcome_count> outcomes{};
  std::array<uint64_t, trace_syncs> syncs{};
  uint64_t own_writes = 0, own_write_bytes = 0;  // puts and accumulates by this rank
  // noticed stores into the rank's own memory
  uint64_t owner_writes = 0, owner_write_bytes = 0;
  Span reads, writes;

  WindowFacts& operator+=(const WindowFacts& other);
};

struct RankFacts {
  uint32_t rank = 0;  // of MPI_COMM_WORLD
  WindowFacts facts;
};

struct WindowSummary {
  uint64_t id = 0;
  bool announced = false;
  std::string name;
  uint8_t mode = 0;
  int64_t unit = 1;
  uint32_t ranks_in_window = 0;
  uint64_t bytes = 0;  // of window memory, of the ranks with traces
  WindowFacts facts;
  std::vector<RankFacts> ranks;
};

struct Summaries {
  Traces traces;
  std::vector<WindowSummary> windows;
  uint64_t acquires = 0;
  Span span;
};

std::string run_summary(const StudyOptions& options, Summaries* summaries);
std::string summary_json(const Summaries& summaries);

}  // namespace nearcache::simulate
