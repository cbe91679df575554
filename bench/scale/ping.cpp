// SPDX-License-Identifier: BSD-3-Clause

// What a get and its flush take in the simulated network: the check of dragonfly.py's constants.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

// Mean seconds of a get of `bytes` from each other rank, the others idle.
double seconds_of_get(MPI_Win window, int ranks, int bytes) {
  std::vector<char> into(static_cast<std::size_t>(bytes));
  const double start = MPI_Wtime();
  for (int target = 1; target < ranks; ++target) {
    MPI_Get(into.data(), bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window);
    MPI_Win_flush(target, window);
  }
  return (MPI_Wtime() - start) / (ranks - 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int largest = 1 << 20;
  std::vector<char> memory(largest);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  if (rank == 0 && ranks > 1) {
    std::printf("{\"ranks\": %d, \"get_ns\": {", ranks);
    for (int bytes = 8; bytes <= largest; bytes *= 8) {
      std::printf("%s\"%d\": %.1f", bytes == 8 ? "" : ", ", bytes,
                  1e9 * seconds_of_get(window, ranks, bytes));
    }
    std::printf("}}\n");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
}
