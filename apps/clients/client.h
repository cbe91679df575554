// SPDX-License-Identifier: BSD-3-Clause

// Declarations shared by the programs in this directory. Each program is a function that takes a
// Job and returns a checksum.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "common/hash.h"

namespace clients {

struct Job {
  MPI_Comm comm;
  int rank, ranks;
  std::int64_t size, rounds;  // their meaning is given at the head of each program
};

struct Outcome {
  std::uint64_t checksum = 0;   // of this rank; the sums over all ranks are compared
  std::uint64_t gets = 0;       // from other ranks
  std::vector<double> seconds;  // of each round
};

Outcome cg(const Job& job);
Outcome hash_map(const Job& job);
Outcome spmv_lock(const Job& job);
Outcome spmv_dynamic(const Job& job);
Outcome samples_fence(const Job& job);
Outcome samples_lock(const Job& job);
Outcome lu(const Job& job);
Outcome lu_steps(const Job& job);
Outcome lock_lookups(const Job& job);
Outcome put_random(const Job& job);
Outcome accumulate(const Job& job);
Outcome halo(const Job& job);
Outcome rewritten(const Job& job);
Outcome messages(const Job& job);

inline std::uint64_t digest(double value) {
  return apps::mix64(std::bit_cast<std::uint64_t>(value));
}

/// Sums the digests of the values: depends on every bit, but not on the order.
inline std::uint64_t digest(const std::vector<double>& values) {
  std::uint64_t sum = 0;
  for (const double value : values) sum += digest(value);
  return sum;
}

/// Orders window accesses between ranks: stores to window memory before this call are visible to
/// the gets of all ranks after it, and gets before it do not see stores after it.
inline void synchronise(const Job& job, MPI_Win window) {
  MPI_Win_sync(window);
  MPI_Barrier(job.comm);
  MPI_Win_sync(window);
}

/// Calls `work(round)` for each round and records its duration.
template <class Work>
void run_rounds(const Job& job, Outcome& outcome, Work work) {
  for (std::int64_t round = 0; round < job.rounds; ++round) {
    const double start = MPI_Wtime();
    work(round);
    outcome.seconds.push_back(MPI_Wtime() - start);
  }
}

inline double sum_of_all(const Job& job, double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, job.comm);
  return value;
}

}  // namespace clients
