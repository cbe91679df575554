// SPDX-License-Identifier: BSD-3-Clause

// The motion of the bodies.
#pragma once

#include <mpi.h>

#include <vector>

#include "body.h"
#include "force.h"
#include "node_window.h"
#include "options.h"

namespace barnes_hut {

/// Seconds that each part of a step took on this rank, including waiting for other ranks.
struct StepCost {
  double distribute = 0, build = 0;
  ForceCost force;
};

struct Energy {
  double kinetic = 0, potential = 0;
  double total() const { return kinetic + potential; }
};

/// Leapfrog integration (kick, drift, kick) with a tree that is rebuilt in every step.
class Simulation {
 public:
  /// Collective. Computes the initial forces.
  Simulation(MPI_Comm comm, const Options& options, std::vector<Body> bodies);

  /// Collective.
  void step();
  /// Collective.
  Energy energy() const;

  const std::vector<Body>& bodies() const { return bodies_; }
  /// One element per force phase.
  const std::vector<StepCost>& costs() const { return costs_; }
  const std::optional<nearcache_stats>& cache() const { return force_.cache(); }

 private:
  void compute_forces();
  void kick();

  MPI_Comm comm_;
  const Options& options_;
  std::vector<Body> bodies_;
  NodeWindow window_;
  ForcePhase force_;
  std::vector<StepCost> costs_;
};

}  // namespace barnes_hut
