// SPDX-License-Identifier: BSD-3-Clause

// Edge lists: one edge `u v` per line, ids of up to 64 bits; `#` and `%` start comment lines.
#pragma once

#include <mpi.h>

#include <string>

#include "graph/graph.h"

namespace apps {

/// Collective. Reads the file in parallel, each rank its byte range. Ignores words after the two
/// ids (weights, times). The ids must all be within 0 .. 2^64-1 or all within -2^63 .. 2^63-1.
/// Fails on all ranks with the file's name and, for a malformed line, its number.
Graph read_edge_list(MPI_Comm comm, const std::string& path);

}  // namespace apps
