/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of writing and reading alternate: in mode `user` the program drops the cached data at the
 * start of each reading phase. It also runs without Nearcache.
 *   mpicc -O2 -I../include user.c -o user
 *   nearcache run --mode user --report - -- mpiexec -n 2 ./user */
#include <mpi.h>
#include <nearcache/mpi.h>
#include <stdio.h>

#pragma weak nearcache_invalidate /* null if Nearcache is not loaded */
enum { ENTRIES = 1000, STEPS = 10, SWEEPS = 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  long *mine, sum = 0, value;
  MPI_Win win;
  MPI_Win_allocate(ENTRIES * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                   &win);
  const int owner = (rank + 1) % ranks;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < ENTRIES; i++) mine[i] = step;
    MPI_Win_fence(0, win); /* all writes are visible now */
    if (nearcache_invalidate) nearcache_invalidate(win);
    for (int i = 0; i < SWEEPS * ENTRIES; i++) {
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, win);
      MPI_Get(&value, 1, MPI_LONG, owner, i % ENTRIES, 1, MPI_LONG, win);
      MPI_Win_unlock(owner, win);
      sum += value;
    }
    MPI_Win_fence(0, win); /* all ranks have finished reading */
  }
  printf("sum of rank %d: %ld\n", owner, sum);
  MPI_Win_free(&win);
  MPI_Finalize();
}
