// SPDX-License-Identifier: BSD-3-Clause

// Writes the per-vertex values of all ranks to one file, in vertex order.
//
// Text: a header line `# vertex degree triangles coefficient`, then one line per vertex with these
// four values, separated by tabs. Binary, little-endian: magic "LCC-OUT\n" (8 bytes), version 1 (4
// bytes), flags (4 bytes; bit 0: names are signed), number of records (8 bytes), zero (8 bytes);
// then records of 32 bytes: name, degree, triangles (64-bit integers), coefficient (64-bit floating
// point).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "lcc/options.h"

namespace lcc {

/// Collective. Writes the processed vertices; `triangles` has one element for each of the first
/// local vertices.
void write_values(MPI_Comm comm, const Graph& graph, const std::vector<std::uint64_t>& triangles,
                  const std::string& path, OutputFormat format);

}  // namespace lcc
