// From its source to a distributed graph.
#pragma once

#include <mpi.h>

#include "graph/graph.h"
#include "graph/source.h"

namespace apps {

/// Collective. Reads or generates the graph that `source` names.
Graph load_graph(MPI_Comm comm, const Source& source);

}  // namespace apps
