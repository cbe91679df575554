// SPDX-License-Identifier: BSD-3-Clause

// The same simulation by direct summation over all pairs; --check compares against it.
#pragma once

#include <mpi.h>

#include <vector>

#include "body.h"
#include "options.h"

namespace barnes_hut {

/// Every rank holds all bodies and computes the forces on its share of them.
class Reference {
 public:
  /// Collective. `bodies`: this rank's initial share; ids are 0 .. all-1. Computes the initial
  /// forces.
  Reference(MPI_Comm comm, const Options& options, const std::vector<Body>& bodies);

  /// Collective.
  void step();

  /// Collective. Returns the RMS of the acceleration differences divided by the RMS acceleration.
  double acceleration_error(const std::vector<Body>& bodies) const;
  /// Collective. Likewise for positions, relative to the RMS distance from the mean position.
  double position_error(const std::vector<Body>& bodies) const;

 private:
  void compute_forces();
  void kick();
  template <class Value>
  double error(const std::vector<Body>& bodies, const Vector& origin, Value&& value) const;

  MPI_Comm comm_;
  const Options& options_;
  std::vector<Body> bodies_;  // by id
};

}  // namespace barnes_hut
