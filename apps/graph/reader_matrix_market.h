// Matrix Market coordinate files: the graph whose adjacency matrix has entries at the stored
// places.
#pragma once

#include <mpi.h>

#include <string>

#include "graph/graph.h"

namespace apps {

/// Collective. `matrix coordinate`, square, field pattern, real or integer, symmetry general or
/// symmetric. Every stored entry is an edge whatever its value; general matrices are symmetrised;
/// the diagonal is dropped. Vertices are named by their row, from 1. Agrees to fail with the file's
/// name and, for a malformed line, its number.
Graph read_matrix_market(MPI_Comm comm, const std::string& path);

}  // namespace apps
