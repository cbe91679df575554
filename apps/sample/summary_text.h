// The result of the whole program, and how it is told; knows no MPI.
#pragma once

#include <cstdint>
#include <string>

#include "sample/cost.h"
#include "sample/options.h"

namespace sample {

struct Summary {
  int ranks = 0;
  std::uint64_t vertices = 0, edges = 0;
  Cost mean;     // seconds: mean over ranks; counts: of all ranks
  Cost slowest;  // seconds only: the largest of any rank
  double seconds_sampling = 0, seconds_total = 0;
};

/// Human-readable, several lines.
std::string summary_text(const Summary& summary);

/// One JSON object. `mpi`: what the MPI library calls itself.
std::string summary_json(const Summary& summary, const Options& options, const std::string& mpi);

}  // namespace sample
