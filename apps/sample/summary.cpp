// SPDX-License-Identifier: BSD-3-Clause
#include "sample/summary.h"

#include "common/agreement.h"

namespace sample {
namespace {

void add_counts(MPI_Comm comm, Cost& cost) {
  std::uint64_t* const counts[] = {
      &cost.row_pointers.gets, &cost.row_pointers.bytes, &cost.lists.gets, &cost.lists.bytes,
      &cost.features.gets,     &cost.features.bytes,     &cost.sampled,    &cost.rows,
      &cost.checksum};
  for (std::uint64_t* count : counts) {
    check(MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  }
}

}  // namespace

Summary summarize(MPI_Comm comm, const Graph& graph, const Cost& cost) {
  Summary summary;
  summary.ranks = graph.partition.ranks();
  summary.vertices = graph.partition.vertices();
  summary.edges = total_entries(comm, graph) / 2;
  summary.mean = cost;
  add_counts(comm, summary.mean);
  const double mine[] = {cost.communication, cost.computation, cost.check};
  double sums[3], most[3];
  check(MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  check(MPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  const double ranks = summary.ranks;
  summary.mean.communication = sums[0] / ranks;
  summary.mean.computation = sums[1] / ranks;
  summary.mean.check = sums[2] / ranks;
  summary.slowest.communication = most[0];
  summary.slowest.computation = most[1];
  summary.slowest.check = most[2];
  return summary;
}

}  // namespace sample
