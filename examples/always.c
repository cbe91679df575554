/* SPDX-License-Identifier: BSD-3-Clause */
/* A table that is filled once and then only read: mode `always` promises that, by an info key that
 * MPI itself ignores. Repeated gets of an entry are served from the cache.
 *   mpicc -O2 always.c -o always
 *   nearcache run --report - -- mpiexec -n 2 ./always */
#include <mpi.h>
#include <stdio.h>

enum { ENTRIES = 1000, READS = 100000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  double* mine;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nearcache_mode", "always");
  MPI_Win win;
  MPI_Win_allocate(ENTRIES * sizeof(double), sizeof(double), info, MPI_COMM_WORLD, &mine, &win);
  MPI_Info_free(&info);
  for (int i = 0; i < ENTRIES; i++) mine[i] = rank * ENTRIES + i;
  MPI_Barrier(MPI_COMM_WORLD); /* no rank writes after this */

  double sum = 0, value;
  const int owner = (rank + 1) % ranks;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < READS; i++) {
    MPI_Get(&value, 1, MPI_DOUBLE, owner, (i * 7919L) % ENTRIES, 1, MPI_DOUBLE, win);
    MPI_Win_flush(owner, win);
    sum += value;
  }
  MPI_Win_unlock_all(win);
  printf("mean of rank %d: %.1f\n", owner, sum / READS);
  MPI_Win_free(&win);
  MPI_Finalize();
}
