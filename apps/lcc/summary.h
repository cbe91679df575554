// SPDX-License-Identifier: BSD-3-Clause

// The result of the whole run, reduced over the ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "lcc/lcc.h"
#include "lcc/summary_text.h"

namespace lcc {

/// Collective. `costs`: one element per run; `triangles`: of the first local vertices.
Summary summarize(MPI_Comm comm, const Graph& graph, const std::vector<std::uint64_t>& triangles,
                  const std::vector<Cost>& costs);

}  // namespace lcc
