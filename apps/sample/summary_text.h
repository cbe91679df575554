// SPDX-License-Identifier: BSD-3-Clause

// The result of the whole run, and its text and JSON forms. MPI-free.
#pragma once

#include <cstdint>
#include <string>

#include "sample/cost.h"
#include "sample/options.h"

namespace sample {

struct Summary {
  int ranks = 0;
  std::uint64_t vertices = 0, edges = 0;
  Cost mean;     // seconds: mean over the ranks; counts: sums over the ranks
  Cost slowest;  // seconds only: the maximum over the ranks
  double seconds_sampling = 0, seconds_total = 0;
};

/// Returns several human-readable lines.
std::string summary_text(const Summary& summary);

/// Returns one JSON object. `mpi`: the MPI library's own version string.
std::string summary_json(const Summary& summary, const Options& options, const std::string& mpi);

}  // namespace sample
