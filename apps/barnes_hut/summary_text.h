// SPDX-License-Identifier: BSD-3-Clause

// The result of the whole run, and its text and JSON forms. MPI-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nearcache/stats.h>

#include "options.h"

namespace barnes_hut {

struct Spread {
  double min = 0, mean = 0, max = 0;
};

/// Errors relative to direct summation: accelerations before the first step, positions after the
/// last.
struct Errors {
  double acceleration = 0, position = 0;
};

struct Summary {
  int ranks = 0, phases = 0;
  std::uint64_t bodies = 0;
  // hash of the bits of every (id, position, velocity); independent of the number of ranks
  std::uint64_t checksum = 0;
  double energy_start = 0, energy_end = 0, energy_drift = 0;
  std::optional<Errors> errors;
  // Totals over all force phases and ranks.
  std::uint64_t interactions = 0, visited = 0, remote = 0, gets = 0, bytes = 0, native_hits = 0;
  double distribute = 0, build = 0, force = 0;  // seconds, slowest rank, summed over phases
  std::vector<double> force_phases;             // one element per phase
  // seconds in all force phases without waiting; spread over the ranks
  Spread busy;
  double seconds_total = 0;
  int cached_ranks = 0;            // number of ranks on which Nearcache was found
  nearcache_stats cache{};         // if found: summed over the ranks
  std::uint64_t cache_memory = 0;  // storage and metadata on the rank that has the most

  /// Seconds that a rank takes to compute the force on one of its bodies (bodies / ranks of them).
  double force_per_body() const { return force / phases / (static_cast<double>(bodies) / ranks); }
};

/// Returns several human-readable lines.
std::string summary_text(const Summary& summary);

/// Returns one JSON object. `mpi`: the MPI library's own version string.
std::string summary_json(const Summary& summary, const Options& options, const std::string& mpi);

}  // namespace barnes_hut
