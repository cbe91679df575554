// SPDX-License-Identifier: BSD-3-Clause

// One rank's block of an undirected graph, in compressed sparse rows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/partition.h"

namespace apps {

/// The ids that the input uses for this rank's vertices.
struct VertexNames {
  std::uint64_t first = 0;            // name of local vertex 0, if names are consecutive
  std::vector<std::uint64_t> listed;  // otherwise one name per local vertex
  bool is_signed = false;             // listed names are two's complement

  std::uint64_t bits(std::uint64_t local) const {
    return listed.empty() ? first + local : listed[local];
  }
};

struct Graph {
  Partition partition;
  int rank = 0;
  std::vector<std::uint64_t> offsets;  // local vertices + 1 indices into `adjacency`
  // neighbours, ascending for each vertex, without self loops or duplicates
  std::vector<Vertex> adjacency;
  VertexNames names;

  std::uint64_t local_vertices() const { return offsets.size() - 1; }
  std::uint64_t first_vertex() const { return partition.first(rank); }
  std::uint64_t degree(std::uint64_t local) const { return offsets[local + 1] - offsets[local]; }
  std::span<const Vertex> neighbours(std::uint64_t local) const {
    return {adjacency.data() + offsets[local], degree(local)};
  }
};

/// A directed edge packed into one word, so that a list of edges is an array of MPI_UINT64_T.
inline std::uint64_t pack_edge(std::uint64_t from, std::uint64_t to) { return from << 32 | to; }
inline Vertex edge_from(std::uint64_t edge) { return static_cast<Vertex>(edge >> 32); }
inline Vertex edge_to(std::uint64_t edge) { return static_cast<Vertex>(edge); }

/// Appends both directions of {u, v}, or nothing for a self loop.
inline void append_undirected(std::vector<std::uint64_t>& edges, std::uint64_t u, std::uint64_t v) {
  if (u == v) return;
  edges.push_back(pack_edge(u, v));
  edges.push_back(pack_edge(v, u));
}

/// Collective. Builds every rank's block from edges that may be on any rank. `edges` contains both
/// directions of each edge (append_undirected), in any order, duplicates allowed. The names are set
/// to 0, 1, ...
Graph build_graph(MPI_Comm comm, const Partition& partition, std::vector<std::uint64_t> edges);

/// Collective. Returns the number of directed entries on all ranks, twice the number of edges.
std::uint64_t total_entries(MPI_Comm comm, const Graph& graph);

}  // namespace apps
