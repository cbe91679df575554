// The result of the whole program, and how it is told; knows no MPI.
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

/// Against direct sums: accelerations before the first step, positions after the last one.
struct Errors {
  double acceleration = 0, position = 0;
};

struct Summary {
  int ranks = 0, phases = 0;
  std::uint64_t bodies = 0;
  // of every (id, position, velocity), bit by bit; independent of the number of ranks
  std::uint64_t checksum = 0;
  double energy_start = 0, energy_end = 0, energy_drift = 0;
  std::optional<Errors> errors;
  // Of all force phases and ranks together.
  std::uint64_t interactions = 0, visited = 0, remote = 0, gets = 0, bytes = 0, native_hits = 0;
  double distribute = 0, build = 0, force = 0;  // seconds, slowest rank, sum over the phases
  std::vector<double> force_phases;             // of each phase
  // seconds of all force phases without waiting, over the ranks
  Spread busy;
  double seconds_total = 0;
  int cached_ranks = 0;            // ranks on which Nearcache was found
  nearcache_stats cache{};         // if so: summed over the ranks
  std::uint64_t cache_memory = 0;  // storage and metadata of the rank that has most

  /// Seconds that a rank takes for the force on one of its bodies (bodies / ranks of them).
  double force_per_body() const { return force / phases / (static_cast<double>(bodies) / ranks); }
};

/// Human-readable, several lines.
std::string summary_text(const Summary& summary);

/// One JSON object. `mpi`: what the MPI library calls itself.
std::string summary_json(const Summary& summary, const Options& options, const std::string& mpi);

}  // namespace barnes_hut
