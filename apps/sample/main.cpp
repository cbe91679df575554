// SPDX-License-Identifier: BSD-3-Clause

// sample: neighbour sampling with feature rows, using MPI one-sided communication.
//
// This is the communication pattern of distributed graph learning: for each minibatch of seed
// vertices, some of their neighbours are drawn, then some of those vertices' neighbours, and the
// feature rows of all vertices met are fetched from their owners. Vertices of high degree occur in
// nearly every minibatch. See README.md in this directory.
#include <mpi.h>

#include <cstdio>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/mpi_version.h"
#include "common/program.h"
#include "common/shared_file.h"
#include "graph/load.h"
#include "graph/progress.h"
#include "sample/options.h"
#include "sample/sampler.h"
#include "sample/summary.h"

namespace sample {
namespace {

struct Outcome {
  Cost cost;
  double seconds;
};

// Minibatch b is processed by rank b modulo the number of ranks.
Outcome run_epochs(MPI_Comm comm, const Graph& graph, const Features& features,
                   const Options& options) {
  Sampler sampler(comm, graph, features, options);
  const auto ranks = static_cast<std::uint64_t>(graph.partition.ranks());
  Progress progress(options.progress && graph.rank == 0, "sample: minibatches",
                    options.epochs * options.batches);
  check(MPI_Barrier(comm), "MPI_Barrier");
  const double start = MPI_Wtime();
  const std::string error = error_of([&] {
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
      for (auto b = static_cast<std::uint64_t>(graph.rank); b < options.batches; b += ranks) {
        sampler.run_minibatch(epoch, b);
        progress.at(epoch * options.batches + b + 1);
      }
    }
    progress.at(options.epochs * options.batches);
  });
  agree(comm, error);  // also a barrier
  return {sampler.cost(), MPI_Wtime() - start};
}

void run(MPI_Comm comm, const Options& options) {
  const double start = MPI_Wtime();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  progress_line(options.progress && rank == 0,
                (options.source.input.empty() ? "sample: generating " : "sample: reading ") +
                    options.source.name());
  const Graph graph = load_graph(comm, options.source);
  const Features features(comm, graph, options.feature_bytes);
  const Outcome outcome = run_epochs(comm, graph, features, options);
  Summary summary = summarize(comm, graph, outcome.cost);
  summary.seconds_sampling = outcome.seconds;
  summary.seconds_total = MPI_Wtime() - start;
  if (!options.json.empty()) {
    SharedFile file(comm, options.json);
    if (rank == 0) {
      const std::string json = summary_json(summary, options, apps::mpi_version());
      file.write(0, json.data(), json.size());
    }
    file.finish();
  }
  if (rank == 0) fmt::print("{}", summary_text(summary));
}

}  // namespace
}  // namespace sample

int main(int argc, char** argv) {
  return apps::program("sample", argc, argv, sample::parse_command_line, sample::run);
}
