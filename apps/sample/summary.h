// SPDX-License-Identifier: BSD-3-Clause

// The result of the whole run, reduced over the ranks.
#pragma once

#include <mpi.h>

#include "graph/graph.h"
#include "sample/summary_text.h"

namespace sample {

/// Collective.
Summary summarize(MPI_Comm comm, const Graph& graph, const Cost& cost);

}  // namespace sample
