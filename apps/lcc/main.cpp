// lcc: local clustering coefficients of an undirected graph, by MPI one-sided communication.
//
// Each rank owns a block of vertices. For each of its vertices it fetches the adjacency lists of all neighbours from
// their owners and counts how often they meet: a vertex of high degree is fetched again and again, which is what a cache
// of remote memory lives on. See README.md beside this file.
#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "adjacency_window.h"
#include "agreement.h"
#include "csr_file.h"
#include "lcc.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "row_pointers.h"
#include "shared_file.h"
#include "summary.h"

namespace lcc {
namespace {

void write_json(MPI_Comm comm, const Summary& summary, const Options& options) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  SharedFile file(comm, options.json);
  if (rank == 0) {
    const std::string json = summary_json(summary, options.graph_name());
    file.write(0, json.data(), json.size());
  }
  file.finish();
}

void run(MPI_Comm comm, const Options& options) {
  const double start = MPI_Wtime();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool progress = options.progress && rank == 0;

  progress_line(progress, (options.input.empty() ? "generating " : "reading ") + options.graph_name());
  const Graph graph = load_graph(comm, options);
  if (!options.csr.empty()) write_csr(comm, graph, options.csr);

  const auto vertices = options.limit_vertices == 0 ? graph.local_vertices()
                                                    : std::min(options.limit_vertices, graph.local_vertices());
  Result result;
  std::vector<Cost> costs;
  {
    const RowPointers rows(comm, graph);
    AdjacencyWindow window(comm, graph);
    for (int i = 0; i < options.repeat; ++i) {
      result = count_triangles(comm, graph, rows, window, vertices, progress);
      costs.push_back(result.cost);
    }
  }
  Summary summary = summarize(comm, graph, result.triangles, costs);
  if (!options.output.empty()) write_values(comm, graph, result.triangles, options.output, options.output_format);
  summary.seconds_total = MPI_Wtime() - start;
  if (!options.json.empty()) write_json(comm, summary, options);
  if (rank == 0) fmt::print("{}", summary_text(summary));
}

int main_in_mpi(MPI_Comm comm, int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.options) {
    if (rank == 0) fmt::print(line.exit_code == 0 ? stdout : stderr, "{}", line.text);
    return line.exit_code;
  }
  try {
    run(comm, *line.options);
    return 0;
  } catch (const Agreed& error) {
    if (!error.message.empty()) fmt::print(stderr, "lcc: {}\n", error.message);
    return 1;
  }
}

}  // namespace
}  // namespace lcc

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = 1;
  try {
    code = lcc::main_in_mpi(MPI_COMM_WORLD, argc, argv);
  } catch (const std::exception& error) {
    // One rank alone is in trouble outside of any stage: a collective call failed. The others cannot be told.
    fmt::print(stderr, "lcc: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::fflush(nullptr);
  MPI_Finalize();
  return code;
}
