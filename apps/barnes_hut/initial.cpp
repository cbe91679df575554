// SPDX-License-Identifier: BSD-3-Clause
#include "initial.h"

#include <cmath>
#include <numbers>

#include "../common/hash.h"

namespace barnes_hut {
namespace {

// A body's random numbers, which depend only on the seed and the body's id.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t id) : state_(apps::mix64(apps::mix64(seed) ^ id)) {}

  /// Uniform in (0, 1).
  double next() {
    state_ = apps::mix64(state_);
    return (static_cast<double>(state_ >> 11) + 0.5) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

Vector random_direction(Random& random, double length) {
  const double z = 2 * random.next() - 1;
  const double angle = 2 * std::numbers::pi * random.next();
  const double across = std::sqrt(1 - z * z);
  return {length * across * std::cos(angle), length * across * std::sin(angle), length * z};
}

// Draws a body's speed in a Plummer sphere, as a fraction of the escape velocity. Density q^2
// (1-q^2)^3.5, sampled by rejection.
double plummer_speed(Random& random) {
  while (true) {
    const double q = random.next();
    if (0.1 * random.next() < q * q * std::pow(1 - q * q, 3.5)) return q;
  }
}

void place_in_plummer_sphere(Body& body, Random& random) {
  constexpr double scale = 3 * std::numbers::pi / 16;  // total energy -1/4
  // fraction of the mass that is used: the rest is far out and would inflate the root cell
  constexpr double most = 0.999;
  const double radius = 1 / std::sqrt(std::pow(most * random.next(), -2.0 / 3.0) - 1);
  const double escape =
      std::numbers::sqrt2 * std::pow(1 + radius * radius, -0.25) / std::sqrt(scale);
  body.position = random_direction(random, scale * radius);
  body.velocity = random_direction(random, escape * plummer_speed(random));
}

}  // namespace

Body initial_body(Model model, std::uint64_t bodies, std::uint64_t seed, std::uint64_t id) {
  Random random(seed, id);
  Body body;
  body.id = id;
  body.mass = 1 / static_cast<double>(bodies);
  if (model == Model::plummer) {
    place_in_plummer_sphere(body, random);
  } else {
    // Three statements because the order in which arguments are evaluated is unspecified.
    body.position.x = random.next() - 0.5;
    body.position.y = random.next() - 0.5;
    body.position.z = random.next() - 0.5;
  }
  return body;
}

}  // namespace barnes_hut
