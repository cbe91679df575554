// SPDX-License-Identifier: BSD-3-Clause

// Matrix Market coordinate files, read as graphs: each stored entry of the adjacency matrix is an
// edge.
#pragma once

#include <mpi.h>

#include <string>

#include "graph/graph.h"

namespace apps {

/// Collective. Accepts `matrix coordinate`, square, with field pattern, real or integer and
/// symmetry general or symmetric. Every stored entry is an edge, whatever its value; general
/// matrices are symmetrised; the diagonal is dropped. A vertex is named by its row, counting from
/// 1. Fails on all ranks with the file's name and, for a malformed line, its number.
Graph read_matrix_market(MPI_Comm comm, const std::string& path);

}  // namespace apps
