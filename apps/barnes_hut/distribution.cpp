// SPDX-License-Identifier: BSD-3-Clause
#include "distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "../common/agreement.h"
#include "morton.h"

namespace barnes_hut {
namespace {

using apps::check;

// Number of key bits that one round of the search below determines. More bits mean fewer rounds;
// the limit keeps the sums that are sent to at most 64 KiB.
int bits_a_round(int ranks) {
  constexpr unsigned most_sums = 8192;
  return std::max(
      1, static_cast<int>(std::bit_width(most_sums / static_cast<unsigned>(ranks - 1))) - 1);
}

// Returns keys k_1 <= k_2 ... such that the bodies below k_r account for r/ranks of the work. All
// keys are found at once, starting with the most significant bits. The sums are integers, so the
// result does not depend on which rank holds which body.
std::vector<std::uint64_t> borders(MPI_Comm comm, const std::vector<Body>& sorted, int ranks) {
  std::vector<std::uint64_t> work(sorted.size() + 1, 0);  // work of the bodies before index i
  for (std::size_t i = 0; i < sorted.size(); ++i) work[i + 1] = work[i] + sorted[i].work;
  std::uint64_t all = work.back();
  check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  const auto work_below = [&](std::uint64_t key) {
    const auto at = std::partition_point(sorted.begin(), sorted.end(),
                                         [&](const Body& b) { return b.key < key; });
    return work[static_cast<std::size_t>(at - sorted.begin())];
  };

  std::vector<std::uint64_t> found(ranks - 1, 0), below;
  for (int left = 3 * digits; left > 0;) {
    const int bits = std::min(left, bits_a_round(ranks));
    left -= bits;
    const std::size_t points = (std::size_t{1} << bits) - 1;
    below.resize(found.size() * points);
    for (std::size_t i = 0; i < below.size(); ++i)
      below[i] = work_below(found[i / points] + ((i % points + 1) << left));
    check(MPI_Allreduce(MPI_IN_PLACE, below.data(), static_cast<int>(below.size()), MPI_UINT64_T,
                        MPI_SUM, comm),
          "MPI_Allreduce");
    for (std::size_t r = 0; r < found.size(); ++r) {
      const double wanted = static_cast<double>(all) * static_cast<double>(r + 1) / ranks;
      const std::uint64_t* const first = below.data() + r * points;
      const auto* const enough = std::partition_point(
          first, first + points,
          [&](std::uint64_t sum) { return static_cast<double>(sum) < wanted; });
      found[r] += static_cast<std::uint64_t>(enough - first) << left;
    }
  }
  for (auto& key : found) ++key;  // so far: the largest keys below which there is too little work
  return found;
}

void sort_bodies(std::vector<Body>& bodies) {
  std::sort(bodies.begin(), bodies.end(), [](const Body& a, const Body& b) {
    return std::tie(a.key, a.id) < std::tie(b.key, b.id);
  });
}

}  // namespace

Cube bounding_cube(MPI_Comm comm, const std::vector<Body>& bodies) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // minima of x, y, z, -x, -y, -z
  double least[6] = {infinity, infinity, infinity, infinity, infinity, infinity};
  apps::together(comm, [&] {
    for (const auto& body : bodies) {
      const double values[3] = {body.position.x, body.position.y, body.position.z};
      for (int i = 0; i < 3; ++i) {
        if (!std::isfinite(values[i]))
          throw apps::Failure("a body left all bounds: the time step is too long");
        least[i] = std::min(least[i], values[i]);
        least[i + 3] = std::min(least[i + 3], -values[i]);
      }
    }
  });
  check(MPI_Allreduce(MPI_IN_PLACE, least, 6, MPI_DOUBLE, MPI_MIN, comm), "MPI_Allreduce");
  Cube cube{{least[0], least[1], least[2]}, 0};
  for (int i = 0; i < 3; ++i) cube.side = std::max(cube.side, -least[i + 3] - least[i]);
  if (!std::isfinite(cube.side)) apps::agree(comm, "the bodies are too far apart");
  if (cube.side == 0) cube.side = 1;  // all bodies are at one point
  return cube;
}

std::vector<Body> send_to_owners(MPI_Comm comm, const std::vector<Body>& bodies,
                                 const std::function<int(const Body&)>& owner) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> send(ranks), send_at(ranks), receive(ranks), receive_at(ranks);
  for (const auto& body : bodies) ++send[owner(body)];
  check(MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, comm), "MPI_Alltoall");
  for (int r = 1; r < ranks; ++r) {
    send_at[r] = send_at[r - 1] + send[r - 1];
    receive_at[r] = receive_at[r - 1] + receive[r - 1];
  }
  std::vector<Body> outgoing, arriving;
  apps::together(comm, [&] {
    outgoing.resize(bodies.size());
    arriving.resize(static_cast<std::size_t>(receive_at.back() + receive.back()));
    std::vector<int> at = send_at;
    for (const auto& body : bodies) outgoing[at[owner(body)]++] = body;
  });
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Body), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const int code = MPI_Alltoallv(outgoing.data(), send.data(), send_at.data(), type,
                                 arriving.data(), receive.data(), receive_at.data(), type, comm);
  MPI_Type_free(&type);
  check(code, "MPI_Alltoallv");
  return arriving;
}

void distribute(MPI_Comm comm, const Cube& root, std::vector<Body>& bodies) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  for (auto& body : bodies) body.key = morton_key(body.position, root);
  sort_bodies(bodies);
  if (ranks == 1) return;
  const auto border = borders(comm, bodies, ranks);
  bodies = send_to_owners(comm, bodies, [&](const Body& body) {
    return static_cast<int>(std::upper_bound(border.begin(), border.end(), body.key) -
                            border.begin());
  });
  sort_bodies(bodies);
}

}  // namespace barnes_hut
