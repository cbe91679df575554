// Per-vertex values of all ranks in one file, in the order of the vertices.
//
// Text: a line `# vertex degree triangles coefficient`, then a line of these four, separated by
// tabs, for each vertex. Binary, little-endian: magic "LCC-OUT\n" (8 bytes), version 1 (4 bytes),
// flags (4 bytes; bit 0: names are signed), number of records (8 bytes), zero (8 bytes); then
// records of 32 bytes: name, degree, triangles (64-bit integers), coefficient (64-bit floating
// point).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "lcc/options.h"

namespace lcc {

/// Collective. Writes the vertices that were processed: `triangles` are those of the first local
/// ones.
void write_values(MPI_Comm comm, const Graph& graph, const std::vector<std::uint64_t>& triangles,
                  const std::string& path, OutputFormat format);

}  // namespace lcc
