// The same motion by direct sums over all pairs: what --check compares with.
#pragma once

#include <mpi.h>

#include <vector>

#include "body.h"
#include "options.h"

namespace barnes_hut {

/// All bodies on every rank; each rank sums for its share of them.
class Reference {
 public:
  /// Collective. `bodies`: this rank's part at the start; ids are 0 .. all-1. Computes the first
  /// forces.
  Reference(MPI_Comm comm, const Options& options, const std::vector<Body>& bodies);

  /// Collective.
  void step();

  /// Collective. The root mean square of the difference of accelerations over that of the
  /// accelerations.
  double acceleration_error(const std::vector<Body>& bodies) const;
  /// Collective. The same of positions, over the distance from the middle of all bodies.
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
