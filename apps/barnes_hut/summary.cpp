// SPDX-License-Identifier: BSD-3-Clause
#include "summary.h"

#include <bit>
#include <cmath>

#include "../common/agreement.h"
#include "../common/hash.h"

namespace barnes_hut {
namespace {

using apps::check;

std::uint64_t checksum(const std::vector<Body>& bodies) {
  std::uint64_t sum = 0;
  for (const auto& body : bodies) {
    std::uint64_t hash = apps::mix64(body.id);
    for (const Vector& v : {body.position, body.velocity}) {
      for (const double value : {v.x, v.y, v.z})
        hash = apps::mix64(hash ^ std::bit_cast<std::uint64_t>(value));
    }
    sum += hash;
  }
  return sum;
}

void reduce(MPI_Comm comm, std::uint64_t* values, int count, MPI_Op operation) {
  check(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, operation, comm), "MPI_Allreduce");
}

double reduce(MPI_Comm comm, double value, MPI_Op operation) {
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, comm), "MPI_Allreduce");
  return value;
}

void add_counts(MPI_Comm comm, const Simulation& simulation, Summary& summary) {
  std::uint64_t sums[8] = {simulation.bodies().size(), checksum(simulation.bodies())};
  for (const auto& cost : simulation.costs()) {
    const ForceCost& force = cost.force;
    const std::uint64_t counts[6] = {force.interactions, force.visited,     force.fetch.remote,
                                     force.fetch.gets,   force.fetch.bytes, force.fetch.hits};
    for (int i = 0; i < 6; ++i) sums[i + 2] += counts[i];
  }
  reduce(comm, sums, 8, MPI_SUM);
  std::uint64_t* const into[8] = {&summary.bodies,  &summary.checksum,   &summary.interactions,
                                  &summary.visited, &summary.remote,     &summary.gets,
                                  &summary.bytes,   &summary.native_hits};
  for (int i = 0; i < 8; ++i) *into[i] = sums[i];
}

void add_times(MPI_Comm comm, const Simulation& simulation, Summary& summary) {
  double busy = 0;
  for (const auto& cost : simulation.costs()) {
    summary.distribute += reduce(comm, cost.distribute, MPI_MAX);
    summary.build += reduce(comm, cost.build, MPI_MAX);
    summary.force_phases.push_back(reduce(comm, cost.force.seconds, MPI_MAX));
    summary.force += summary.force_phases.back();
    busy += cost.force.busy;
  }
  summary.busy = {reduce(comm, busy, MPI_MIN), reduce(comm, busy, MPI_SUM) / summary.ranks,
                  reduce(comm, busy, MPI_MAX)};
}

void add_cache(MPI_Comm comm, const Simulation& simulation, Summary& summary) {
  const nearcache_stats mine = simulation.cache().value_or(nearcache_stats{});
  std::uint64_t values[] = {
#define NEARCACHE_COUNTER(name, kind, unit, help) mine.name,
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
      simulation.cache() ? std::uint64_t{1} : 0};
  reduce(comm, values, static_cast<int>(std::size(values)), MPI_SUM);
  const std::uint64_t* next = values;
#define NEARCACHE_COUNTER(name, kind, unit, help) summary.cache.name = *next++;
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
  summary.cached_ranks = static_cast<int>(*next);
  summary.cache_memory = mine.storage_bytes + mine.metadata_bytes;
  reduce(comm, &summary.cache_memory, 1, MPI_MAX);
}

}  // namespace

Summary summarize(MPI_Comm comm, const Simulation& simulation) {
  Summary summary;
  MPI_Comm_size(comm, &summary.ranks);
  summary.phases = static_cast<int>(simulation.costs().size());
  add_counts(comm, simulation, summary);
  add_times(comm, simulation, summary);
  add_cache(comm, simulation, summary);
  return summary;
}

}  // namespace barnes_hut
