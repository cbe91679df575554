// SPDX-License-Identifier: BSD-3-Clause

// Loads a distributed graph from its source.
#pragma once

#include <mpi.h>

#include "graph/graph.h"
#include "graph/source.h"

namespace apps {

/// Collective. Reads or generates the graph that `source` describes.
Graph load_graph(MPI_Comm comm, const Source& source);

}  // namespace apps
