// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/summary.h"

#include <cmath>

#include "common/agreement.h"
#include "common/hash.h"

namespace lcc {
namespace {

// Coefficients are summed in units of 2^-32: a sum of integers does not depend on the order, hence
// not on the number of ranks, and it fits 64 bits for any graph (n < 2^31, coefficients at most 1).
constexpr double coefficient_unit = 4294967296.0;

struct Sums {
  std::uint64_t processed = 0, corners = 0, coefficients = 0, checksum = 0, gets = 0, bytes = 0,
                entries = 0;
};
constexpr int sums_count = sizeof(Sums) / sizeof(std::uint64_t);

Sums local_sums(const Graph& graph, const std::vector<std::uint64_t>& triangles, const Cost& cost) {
  Sums sums;
  for (std::uint64_t i = 0; i < triangles.size(); ++i) {
    const auto degree = graph.degree(i), count = triangles[i];
    sums.corners += count;
    sums.coefficients +=
        static_cast<std::uint64_t>(std::llround(coefficient(degree, count) * coefficient_unit));
    sums.checksum += mix64(mix64(mix64(graph.first_vertex() + i) ^ degree) ^ count);
  }
  sums.processed = triangles.size();
  sums.gets = cost.gets;
  sums.bytes = cost.bytes;
  sums.entries = graph.adjacency.size();
  return sums;
}

Spread spread(MPI_Comm comm, double value) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  Spread result;
  check(MPI_Allreduce(&value, &result.min, 1, MPI_DOUBLE, MPI_MIN, comm), "MPI_Allreduce");
  check(MPI_Allreduce(&value, &result.mean, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  check(MPI_Allreduce(&value, &result.max, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  result.mean /= ranks;
  return result;
}

template <class Part>
double mean_over_runs(const std::vector<Cost>& costs, Part&& part) {
  double sum = 0;
  for (const auto& cost : costs) sum += part(cost);
  return sum / static_cast<double>(costs.size());
}

}  // namespace

Summary summarize(MPI_Comm comm, const Graph& graph, const std::vector<std::uint64_t>& triangles,
                  const std::vector<Cost>& costs) {
  Sums sums = local_sums(graph, triangles, costs.front());
  check(MPI_Allreduce(MPI_IN_PLACE, &sums, sums_count, MPI_UINT64_T, MPI_SUM, comm),
        "MPI_Allreduce");
  Summary summary;
  summary.ranks = graph.partition.ranks();
  summary.vertices = graph.partition.vertices();
  summary.edges = sums.entries / 2;
  summary.processed = sums.processed;
  summary.corners = sums.corners;
  summary.average_coefficient = static_cast<double>(sums.coefficients) / coefficient_unit /
                                static_cast<double>(sums.processed);
  summary.checksum = sums.checksum;
  summary.gets = sums.gets;
  summary.bytes = sums.bytes;
  for (const auto& cost : costs) summary.lcc_runs.push_back(spread(comm, cost.lcc).max);
  summary.lcc = spread(comm, mean_over_runs(costs, [](const Cost& cost) { return cost.lcc; }));
  summary.communication =
      spread(comm, mean_over_runs(costs, [](const Cost& cost) { return cost.communication; }));
  summary.computation =
      spread(comm, mean_over_runs(costs, [](const Cost& cost) { return cost.computation; }));
  return summary;
}

}  // namespace lcc
