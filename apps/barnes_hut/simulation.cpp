// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.h"

#include <utility>

#include "../common/agreement.h"
#include "distribution.h"

namespace barnes_hut {

Simulation::Simulation(MPI_Comm comm, const Options& options, std::vector<Body> bodies)
    : comm_(comm),
      options_(options),
      bodies_(std::move(bodies)),
      window_(comm, options.block),
      force_(comm, options, window_) {
  compute_forces();
}

void Simulation::step() {
  kick();
  for (auto& body : bodies_) body.position += options_.time_step * body.velocity;
  compute_forces();
  kick();
}

void Simulation::kick() {
  for (auto& body : bodies_) body.velocity += 0.5 * options_.time_step * body.field.acceleration;
}

void Simulation::compute_forces() {
  StepCost cost;
  const double start = MPI_Wtime();
  const Cube root = bounding_cube(comm_, bodies_);
  distribute(comm_, root, bodies_);
  const double distributed = MPI_Wtime();
  const DistributedTree tree =
      build_distributed_tree(comm_, root, options_.theta, bodies_, window_);
  cost.distribute = distributed - start;
  cost.build = MPI_Wtime() - distributed;
  cost.force = force_.run(tree, bodies_);
  costs_.push_back(cost);
}

Energy Simulation::energy() const {
  Energy energy;
  for (const auto& body : bodies_) {
    energy.kinetic += 0.5 * body.mass * squared(body.velocity);
    energy.potential += 0.5 * body.mass * body.field.potential;  // every pair is counted twice
  }
  double sums[2] = {energy.kinetic, energy.potential};
  apps::check(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm_), "MPI_Allreduce");
  return {sums[0], sums[1]};
}

}  // namespace barnes_hut
