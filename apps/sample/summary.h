// The result of the whole program, reduced over the ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "sample/options.h"
#include "sample/sampler.h"

namespace sample {

struct Summary {
  int ranks = 0;
  std::uint64_t vertices = 0, edges = 0;
  Cost mean;     // seconds: mean over ranks; counts: of all ranks
  Cost slowest;  // seconds only: the largest of any rank
  double seconds_sampling = 0, seconds_total = 0;
};

/// Collective.
Summary summarize(MPI_Comm comm, const Graph& graph, const Cost& cost);

/// Human-readable, several lines.
std::string summary_text(const Summary& summary);

/// One JSON object.
std::string summary_json(const Summary& summary, const Options& options);

}  // namespace sample
