// SPDX-License-Identifier: BSD-3-Clause
#include "graph/graph.h"

#include <algorithm>

#include "common/agreement.h"
#include "graph/exchange.h"

namespace apps {
namespace {

// Counting sort by source vertex: linear, unlike a comparison sort of all packed edges.
void place_edges(Graph& graph, std::vector<std::uint64_t> edges) {
  const std::uint64_t first = graph.first_vertex();
  graph.offsets.assign(graph.partition.size(graph.rank) + 1, 0);
  for (const auto edge : edges) ++graph.offsets[edge_from(edge) - first + 1];
  for (std::size_t i = 1; i < graph.offsets.size(); ++i) graph.offsets[i] += graph.offsets[i - 1];
  graph.adjacency.resize(edges.size());
  std::vector<std::uint64_t> fill(graph.offsets.begin(), graph.offsets.end() - 1);
  for (const auto edge : edges) graph.adjacency[fill[edge_from(edge) - first]++] = edge_to(edge);
}

void sort_and_drop_duplicates(Graph& graph) {
  std::uint64_t kept = 0;
  std::uint64_t begin = 0;
  for (std::uint64_t v = 0; v < graph.local_vertices(); ++v) {
    const std::uint64_t end = graph.offsets[v + 1];
    const auto list = graph.adjacency.begin() + begin, list_end = graph.adjacency.begin() + end;
    std::sort(list, list_end);
    const auto unique_end = std::unique(list, list_end);
    std::copy(list, unique_end, graph.adjacency.begin() + kept);
    kept += unique_end - list;
    graph.offsets[v + 1] = kept;
    begin = end;
  }
  graph.adjacency.resize(kept);
  graph.adjacency.shrink_to_fit();
}

}  // namespace

Graph build_graph(MPI_Comm comm, const Partition& partition, std::vector<std::uint64_t> edges) {
  auto own = exchange(comm, std::move(edges),
                      [&](std::uint64_t edge) { return partition.owner(edge_from(edge)); });
  return together(comm, [&] {
    Graph graph;
    graph.partition = partition;
    MPI_Comm_rank(comm, &graph.rank);
    graph.names.first = graph.first_vertex();
    place_edges(graph, std::move(own));
    sort_and_drop_duplicates(graph);
    return graph;
  });
}

std::uint64_t total_entries(MPI_Comm comm, const Graph& graph) {
  std::uint64_t entries = graph.adjacency.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &entries, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  return entries;
}

}  // namespace apps
