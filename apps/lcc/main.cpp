// SPDX-License-Identifier: BSD-3-Clause

// lcc: computes local clustering coefficients of an undirected graph with MPI one-sided
// communication.
//
// Each rank owns a block of vertices. For each of them it fetches the adjacency lists of all
// neighbours from their owners and counts common neighbours. The list of a high-degree vertex is
// fetched again and again, which is what a cache of remote memory exploits. See README.md in this
// directory.
#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/mpi_version.h"
#include "common/program.h"
#include "common/shared_file.h"
#include "graph/adjacency_window.h"
#include "graph/csr_file.h"
#include "graph/load.h"
#include "graph/progress.h"
#include "graph/row_pointers.h"
#include "lcc/lcc.h"
#include "lcc/options.h"
#include "lcc/output.h"
#include "lcc/summary.h"

namespace lcc {
namespace {

void write_json(MPI_Comm comm, const Summary& summary, const Options& options) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  SharedFile file(comm, options.json);
  if (rank == 0) {
    const std::string json = summary_json(summary, options.source.name(), apps::mpi_version());
    file.write(0, json.data(), json.size());
  }
  file.finish();
}

struct Runs {
  std::vector<std::uint64_t> triangles;
  std::vector<Cost> costs;
};

// Rows: RowPointers or RowWindow.
template <class Rows>
Runs count_repeatedly(MPI_Comm comm, const Graph& graph, std::uint64_t vertices,
                      const Options& options) {
  Runs runs;
  Rows rows(comm, graph);
  AdjacencyWindow window(comm, graph);
  for (int i = 0; i < options.repeat; ++i) {
    Result result =
        count_triangles(comm, graph, rows, window, vertices, options.progress && graph.rank == 0);
    runs.triangles = std::move(result.triangles);
    runs.costs.push_back(result.cost);
  }
  return runs;
}

void run(MPI_Comm comm, const Options& options) {
  const double start = MPI_Wtime();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool progress = options.progress && rank == 0;

  progress_line(progress, (options.source.input.empty() ? "lcc: generating " : "lcc: reading ") +
                              options.source.name());
  const Graph graph = load_graph(comm, options.source);
  if (!options.csr.empty()) write_csr(comm, graph, options.csr);

  const auto vertices = options.limit_vertices == 0
                            ? graph.local_vertices()
                            : std::min(options.limit_vertices, graph.local_vertices());
  const Runs runs = options.row_window
                        ? count_repeatedly<RowWindow>(comm, graph, vertices, options)
                        : count_repeatedly<RowPointers>(comm, graph, vertices, options);
  Summary summary = summarize(comm, graph, runs.triangles, runs.costs);
  summary.row_window = options.row_window;
  if (!options.output.empty())
    write_values(comm, graph, runs.triangles, options.output, options.output_format);
  summary.seconds_total = MPI_Wtime() - start;
  if (!options.json.empty()) write_json(comm, summary, options);
  if (rank == 0) fmt::print("{}", summary_text(summary));
}

}  // namespace
}  // namespace lcc

int main(int argc, char** argv) {
  return apps::program("lcc", argc, argv, lcc::parse_command_line, lcc::run);
}
