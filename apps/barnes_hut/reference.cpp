// SPDX-License-Identifier: BSD-3-Clause
#include "reference.h"

#include <algorithm>
#include <cmath>

#include "../common/agreement.h"

namespace barnes_hut {
namespace {

using apps::check;

// Concatenates the elements of all ranks. pre: the number of bytes fits an int; `most_checked`
// ensures it
template <class T>
std::vector<T> gather_all(MPI_Comm comm, const T* mine, std::size_t count) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const int bytes = static_cast<int>(count * sizeof(T));
  std::vector<int> sizes(ranks), at(ranks + 1);
  check(MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm), "MPI_Allgather");
  for (int r = 0; r < ranks; ++r) at[r + 1] = at[r] + sizes[r];
  std::vector<T> all(at[ranks] / sizeof(T));
  check(MPI_Allgatherv(mine, bytes, MPI_BYTE, all.data(), sizes.data(), at.data(), MPI_BYTE, comm),
        "MPI_Allgatherv");
  return all;
}

}  // namespace

Reference::Reference(MPI_Comm comm, const Options& options, const std::vector<Body>& bodies)
    : comm_(comm), options_(options), bodies_(gather_all(comm, bodies.data(), bodies.size())) {
  std::sort(bodies_.begin(), bodies_.end(),
            [](const Body& a, const Body& b) { return a.id < b.id; });
  compute_forces();
}

void Reference::compute_forces() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &ranks);
  const std::size_t all = bodies_.size(), first = all * rank / ranks,
                    last = all * (rank + 1) / ranks;
  const double softening2 = options_.softening * options_.softening;
  std::vector<Field> mine(last - first);
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t j = 0; j < all; ++j) {
      if (i == j) continue;
      const Vector towards = bodies_[j].position - bodies_[i].position;
      mine[i - first].attract(towards, squared(towards), bodies_[j].mass, softening2);
    }
  }
  const auto fields = gather_all(comm_, mine.data(), mine.size());
  for (std::size_t i = 0; i < all; ++i) bodies_[i].field = fields[i];
}

void Reference::kick() {
  for (auto& body : bodies_) body.velocity += 0.5 * options_.time_step * body.field.acceleration;
}

void Reference::step() {
  kick();
  for (auto& body : bodies_) body.position += options_.time_step * body.velocity;
  compute_forces();
  kick();
}

template <class Value>
double Reference::error(const std::vector<Body>& bodies, const Vector& origin,
                        Value&& value) const {
  double sums[2] = {0, 0};  // squares of the differences, squares of the values
  for (const auto& body : bodies) {
    const Vector& exact = value(bodies_[body.id]);
    sums[0] += squared(value(body) - exact);
    sums[1] += squared(exact - origin);
  }
  check(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm_), "MPI_Allreduce");
  return sums[0] == 0 ? 0 : std::sqrt(sums[0] / sums[1]);
}

double Reference::acceleration_error(const std::vector<Body>& bodies) const {
  return error(bodies, Vector{},
               [](const Body& body) -> const Vector& { return body.field.acceleration; });
}

double Reference::position_error(const std::vector<Body>& bodies) const {
  Vector middle;
  for (const auto& body : bodies_)
    middle += 1 / static_cast<double>(bodies_.size()) * body.position;
  return error(bodies, middle, [](const Body& body) -> const Vector& { return body.position; });
}

}  // namespace barnes_hut
