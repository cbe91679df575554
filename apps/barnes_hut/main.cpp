// SPDX-License-Identifier: BSD-3-Clause

// barnes_hut: simulates gravitating bodies with the Barnes-Hut algorithm and MPI one-sided
// communication.
//
// The octree is stored in a window across all ranks. In the force phase every rank traverses it for
// each of its bodies and fetches cells of other ranks. The same cells are fetched again and again,
// which is what a cache of remote memory exploits. See README.md in this directory.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <fmt/core.h>

#include "../common/agreement.h"
#include "../common/mpi_version.h"
#include "../common/program.h"
#include "../common/shared_file.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "reference.h"
#include "simulation.h"
#include "summary.h"

namespace barnes_hut {
namespace {

void write_json(MPI_Comm comm, const Summary& summary, const Options& options) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  apps::SharedFile file(comm, options.json);
  if (rank == 0) {
    const std::string json = summary_json(summary, options, apps::mpi_version());
    file.write(0, json.data(), json.size());
  }
  file.finish();
}

void say(const Options& options, int rank, const std::string& text) {
  if (options.progress && rank == 0) fmt::print(stderr, "barnes_hut: {}\n", text);
}

void run(MPI_Comm comm, const Options& options) {
  const double start = MPI_Wtime();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  say(options, rank, options.input_name());
  auto bodies = load_bodies(comm, options);

  Errors errors;
  std::optional<Reference> reference;
  if (options.check) reference.emplace(comm, options, bodies);
  Simulation simulation(comm, options, std::move(bodies));
  if (reference) errors.acceleration = reference->acceleration_error(simulation.bodies());

  const double energy_start = simulation.energy().total();
  double energy_end = energy_start, difference = 0;
  for (int i = 1; i <= options.steps; ++i) {
    simulation.step();
    if (reference) reference->step();
    energy_end = simulation.energy().total();
    difference = std::max(difference, std::abs(energy_end - energy_start));
    say(options, rank, fmt::format("step {} of {}", i, options.steps));
  }
  if (reference) errors.position = reference->position_error(simulation.bodies());

  Summary summary = summarize(comm, simulation);
  summary.energy_start = energy_start;
  summary.energy_end = energy_end;
  summary.energy_drift = difference == 0 ? 0 : difference / std::abs(energy_start);
  if (reference) summary.errors = errors;
  if (!options.output.empty()) write_bodies(comm, simulation.bodies(), options.output);
  summary.seconds_total = MPI_Wtime() - start;
  if (!options.json.empty()) write_json(comm, summary, options);
  if (rank == 0) fmt::print("{}", summary_text(summary));
}

}  // namespace
}  // namespace barnes_hut

int main(int argc, char** argv) {
  return apps::program("barnes_hut", argc, argv, barnes_hut::parse_command_line, barnes_hut::run);
}
