// From the command line to a distributed graph.
#pragma once

#include <mpi.h>

#include "graph.h"
#include "options.h"

namespace lcc {

/// Collective. Reads or generates the graph that `options` ask for.
Graph load_graph(MPI_Comm comm, const Options& options);

}  // namespace lcc
