/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronises in every step but changes little: mode `coherent` keeps cached data across steps
 * until some rank writes it. The program promises nothing.
 *   mpicc -O2 coherent.c -o coherent
 *   nearcache run --mode coherent --report - -- mpiexec -n 2 ./coherent */
#include <mpi.h>
#include <stdio.h>

enum { ENTRIES = 4000, STEPS = 50 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  long *mine, sum = 0, value;
  MPI_Win win;
  MPI_Win_allocate(ENTRIES * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                   &win);
  for (int i = 0; i < ENTRIES; i++) mine[i] = 0;
  const int owner = (rank + 1) % ranks;
  for (int step = 0; step < STEPS; step++) {
    mine[step] = 1; /* changes one entry of 4000 */
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, win);
    for (int i = 0; i < ENTRIES; i++) {
      MPI_Get(&value, 1, MPI_LONG, owner, i, 1, MPI_LONG, win);
      MPI_Win_flush(owner, win);
      sum += value;
    }
    MPI_Win_unlock(owner, win);
    MPI_Win_fence(0, win);
  }
  printf("sum of rank %d: %ld\n", owner, sum);
  MPI_Win_free(&win);
  MPI_Finalize();
}
