// SPDX-License-Identifier: BSD-3-Clause

// Programs that proceed in steps, each ended by a barrier, and write little that other ranks read,
// so that most of what a step reads has been read before.
#include <algorithm>
#include <cmath>

#include "clients/blocks.h"
#include "clients/client.h"

namespace clients {
namespace {

constexpr std::size_t width = 8;  // of a block, in elements

}  // namespace

// Left-looking LU of a matrix of size x size blocks: in each step the owner of a column reads the
// finished columns before it, which are spread over all ranks, subtracts their contributions and
// stores the column; a barrier ends the step. Rounds: factorisations, each of a different matrix.
Outcome lu_steps(const Job& job) {
  constexpr std::int64_t words = width * width;
  Outcome outcome;
  const std::int64_t columns = (job.size + job.ranks - 1) / job.ranks;
  double* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(columns * job.size * words * 8, 8, MPI_INFO_NULL, job.comm, &memory, &window);
  const auto place = [&](std::int64_t row, std::int64_t column) {
    return (column / job.ranks * job.size + row) * words;
  };
  std::vector<double> left(words), column(static_cast<std::size_t>(job.size * words));
  MPI_Win_lock_all(0, window);
  run_rounds(job, outcome, [&](auto round) {
    for (std::int64_t step = job.rank; step < job.size; step += job.ranks) {
      for (std::int64_t i = 0; i < job.size * words; ++i) {
        const auto number =
            static_cast<std::uint64_t>((round * job.size + step) * job.size * words + i);
        memory[place(0, step) + i] =
            static_cast<double>(apps::mix64(number) % 1000) / 1000 +
            (i / words == step && i % words % static_cast<std::int64_t>(width + 1) == 0
                 ? 100.0 * static_cast<double>(job.size)
                 : 0);
      }
    }
    synchronise(job, window);
    for (std::int64_t step = 0; step < job.size; ++step) {
      if (step % job.ranks == job.rank) {
        double* mine = memory + place(0, step);
        std::copy_n(mine, job.size * words, column.begin());
        for (std::int64_t before = 0; before < step; ++before) {
          const auto owner = static_cast<int>(before % job.ranks);
          for (std::int64_t row = before; row < job.size; ++row) {
            MPI_Get(left.data(), words, MPI_DOUBLE, owner, place(row, before), words, MPI_DOUBLE,
                    window);
            MPI_Win_flush(owner, window);
            outcome.gets += owner != job.rank;
            double* target = &column[static_cast<std::size_t>(row * words)];
            if (row == before) {
              divide_left<width>(target, left.data());
            } else {
              subtract_product<width>(target, left.data(),
                                      &column[static_cast<std::size_t>(before * words)]);
            }
          }
        }
        factor<width>(&column[static_cast<std::size_t>(step * words)]);
        for (std::int64_t row = step + 1; row < job.size; ++row)
          divide_right<width>(&column[static_cast<std::size_t>(row * words)],
                              &column[static_cast<std::size_t>(step * words)]);
        std::copy_n(column.begin(), job.size * words, mine);
        outcome.checksum += digest(column);
      }
      synchronise(job, window);
    }
  });
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return outcome;
}

// A table that all ranks look up under shared locks, `size` entries between two reductions; in
// every tenth round each owner rewrites one entry under an exclusive lock.
Outcome lock_lookups(const Job& job) {
  constexpr std::int64_t entries = 256, words = 32;
  Outcome outcome;
  std::uint64_t* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(entries * words * 8, 8, MPI_INFO_NULL, job.comm, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, job.rank, 0, window);
  for (std::int64_t i = 0; i < entries * words; ++i)
    memory[i] = apps::mix64(static_cast<std::uint64_t>(job.rank * entries * words + i));
  MPI_Win_unlock(job.rank, window);
  MPI_Barrier(job.comm);
  std::vector<std::uint64_t> entry(words);
  std::uint64_t state = static_cast<std::uint64_t>(job.rank);
  run_rounds(job, outcome, [&](auto round) {
    if (round % 10 == 9) {
      const std::int64_t changed = round / 10 % entries;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, job.rank, 0, window);
      for (std::int64_t i = 0; i < words; ++i)
        memory[changed * words + i] += static_cast<std::uint64_t>(round);
      MPI_Win_unlock(job.rank, window);
      MPI_Barrier(job.comm);
    }
    double sum = 0;
    for (std::int64_t i = 0; i < job.size; ++i) {
      state = apps::mix64(state + 1);
      const auto owner = static_cast<int>(state % static_cast<std::uint64_t>(job.ranks));
      const auto which = static_cast<std::int64_t>((state >> 20) % entries);
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window);
      MPI_Get(entry.data(), words, MPI_UINT64_T, owner, which * words, words, MPI_UINT64_T, window);
      MPI_Win_unlock(owner, window);
      outcome.gets += owner != job.rank;
      for (const std::uint64_t word : entry) outcome.checksum += apps::mix64(word ^ state);
      sum += static_cast<double>(entry[0] % 1000);
    }
    outcome.checksum += digest(sum_of_all(job, sum));
  });
  MPI_Win_free(&window);
  return outcome;
}

}  // namespace clients
