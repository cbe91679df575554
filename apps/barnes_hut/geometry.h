// SPDX-License-Identifier: BSD-3-Clause

// Vectors, and the cube that contains all bodies. MPI-free.
#pragma once

#include <cmath>

namespace barnes_hut {

struct Vector {
  double x = 0, y = 0, z = 0;

  Vector& operator+=(const Vector& other) {
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
};

inline Vector operator+(Vector a, const Vector& b) { return a += b; }
inline Vector operator-(const Vector& a, const Vector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vector operator*(double factor, const Vector& a) {
  return {factor * a.x, factor * a.y, factor * a.z};
}
inline double squared(const Vector& a) { return a.x * a.x + a.y * a.y + a.z * a.z; }

/// The root cell of the octree: [low, low + side) in each dimension.
struct Cube {
  Vector low;
  double side = 1;
};

/// The gravitational field at a body: acceleration and potential.
struct Field {
  Vector acceleration;
  double potential = 0;

  /// Adds the attraction of `mass` at distance vector `towards`, with Plummer softening; G = 1.
  void attract(const Vector& towards, double distance2, double mass, double softening2) {
    const double inverse = 1 / std::sqrt(distance2 + softening2);
    potential -= mass * inverse;
    acceleration += mass * inverse * inverse * inverse * towards;
  }
};

}  // namespace barnes_hut
