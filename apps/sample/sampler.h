// SPDX-License-Identifier: BSD-3-Clause

// Minibatches of sampled neighbourhoods with their feature rows.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/cache_cost.h"
#include "graph/adjacency_window.h"
#include "graph/graph.h"
#include "graph/read_window.h"
#include "graph/row_window.h"
#include "sample/cost.h"
#include "sample/draws.h"
#include "sample/options.h"

namespace sample {

/// The feature rows of a rank's vertices.
class Features {
 public:
  /// Collective.
  Features(MPI_Comm comm, const Graph& graph, std::uint64_t bytes);

  std::uint64_t words() const { return words_; }
  const std::uint64_t* own(std::uint64_t local) const { return rows_.data() + local * words_; }
  const std::vector<std::uint64_t>& rows() const { return rows_; }

 private:
  std::uint64_t words_;
  std::vector<std::uint64_t> rows_;
};

/// Runs minibatches in stages. Each stage issues all its gets and completes them with one
/// flush_all: the row pointers of a hop's vertices, their sampled neighbours and, at the end, the
/// feature rows of all vertices met.
class Sampler {
 public:
  /// Collective. pre: `graph` and `features` outlive the sampler
  Sampler(MPI_Comm comm, const Graph& graph, const Features& features, const Options& options);

  /// Throws Failure if a fetched row has the wrong contents.
  void run_minibatch(std::uint64_t epoch, std::uint64_t minibatch);

  const Cost& cost() const { return cost_; }

 private:
  void locate(std::span<const Vertex> vertices);
  void draw(const Expansion& what, std::span<const Vertex> vertices, std::uint64_t fan_out);
  void fetch_entries(std::span<const Vertex> vertices);
  void fetch_lists(std::span<const Vertex> vertices);
  void fetch_rows(std::span<const Vertex> vertices);
  void check_rows(std::span<const Vertex> vertices);
  void count_neighbours(const Expansion& what, std::span<const Vertex> vertices);

  const Graph& graph_;
  const Features& features_;
  const Options& options_;
  RowWindow rows_;
  AdjacencyWindow lists_;
  ReadWindow feature_window_;

  std::vector<std::uint64_t> offsets_;  // pairs, for the vertices of this hop
  std::vector<Row> located_;
  std::vector<std::uint64_t> places_;       // of all neighbours drawn, in their lists
  std::vector<std::uint64_t> first_place_;  // start of each vertex's indices in places_
  std::vector<std::uint64_t> drawn_;        // for one vertex
  std::vector<Vertex> neighbours_;          // parallel to places_
  std::vector<Vertex> fetched_lists_;
  std::vector<std::uint64_t> fetched_rows_;
  Cost cost_;
  CacheTime cache_time_;
};

}  // namespace sample
