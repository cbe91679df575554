// SPDX-License-Identifier: BSD-3-Clause

// Our binary graph format, compressed sparse rows. All numbers are little-endian.
//
//   offset  bytes    content
//   0       8        magic "LCC-CSR\n"
//   8       4        version, 1
//   12      4        flags: bit 0: names are listed; bit 1: listed names are signed
//   16      8        n, number of vertices
//   24      8        m, number of adjacency entries, twice the number of edges
//   32      8        name of vertex 0, if names are not listed: vertex i is named by this + i
//   40      24       zero
//   64      8(n+1)   row offsets, in entries, from 0 to m
//   ...     8n       names, if listed
//   ...     4m       adjacency: neighbours of vertex 0 ascending, then of vertex 1, ...
//
// The graph is undirected: every edge is stored in both directions. No self loops, no duplicates.
#pragma once

#include <mpi.h>

#include <string>

#include "graph/graph.h"

namespace apps {

inline constexpr char csr_magic[] = "LCC-CSR\n";

/// Collective. Each rank reads its own block. Fails on all ranks if the file is truncated,
/// inconsistent, or not an undirected graph in the above sense.
Graph read_csr(MPI_Comm comm, const std::string& path);

/// Collective. Each rank writes its own block of the file.
void write_csr(MPI_Comm comm, const Graph& graph, const std::string& path);

}  // namespace apps
