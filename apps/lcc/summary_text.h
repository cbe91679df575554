// SPDX-License-Identifier: BSD-3-Clause

// The result of the whole run, and how it is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lcc {

struct Spread {
  double min = 0, mean = 0, max = 0;
};

struct Summary {
  int ranks = 0;
  bool row_window = false;
  std::uint64_t vertices = 0, edges = 0, processed = 0;
  std::uint64_t corners = 0;       // triangle corners at processed vertices; a triangle has 3
  double average_coefficient = 0;  // over the processed vertices
  // hash of every (vertex, degree, triangles); independent of the number of ranks
  std::uint64_t checksum = 0;
  std::uint64_t gets = 0, bytes = 0;  // of one run, summed over all ranks
  std::vector<double> lcc_runs;       // seconds of each run on the slowest rank
  // seconds of one run (the mean of all runs); spread over the ranks
  Spread lcc, communication, computation;
  double seconds_total = 0;

  bool complete() const { return processed == vertices; }
  std::uint64_t triangles() const { return corners / 3; }
};

/// Returns several human-readable lines.
std::string summary_text(const Summary& summary);

/// Returns one JSON object. `input`: the name of the graph; `mpi`: the MPI's own version text.
std::string summary_json(const Summary& summary, const std::string& input, const std::string& mpi);

}  // namespace lcc
