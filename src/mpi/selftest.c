/* SPDX-License-Identifier: BSD-3-Clause */
/* nearcache-selftest: two ranks that check whether a preloaded libnearcache_mpi.so serves gets, and
 * serves them correctly. Prints one line: `selftest: ok hits=N`, `selftest: FAILED why` or
 * `selftest: nearcache is not loaded`; the exit code is 0, 1 or 2. */
#include <stdio.h>
#include <string.h>

#include "nearcache/mpi.h"

/* Weak, because the library is preloaded, not linked. */
/* NOLINTNEXTLINE(readability-redundant-declaration) */
__attribute__((weak)) int nearcache_get_stats(MPI_Win win, nearcache_stats* stats);

enum { count = 64, repeats = 10 };

static long expected(int rank, int i) { return 1000L * rank + i; }

/* Reads every element of the neighbour `repeats` times; returns the number of wrong values. */
static int read_all(MPI_Win win, int target) {
  int wrong = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  for (int r = 0; r < repeats; r++) {
    for (int i = 0; i < count; i++) {
      long value = -1;
      MPI_Get(&value, 1, MPI_LONG, target, i, 1, MPI_LONG, win);
      MPI_Win_flush(target, win);
      wrong += value != expected(target, i);
    }
  }
  MPI_Win_unlock(target, win);
  return wrong;
}

static unsigned long long hits_of(MPI_Win win) {
  nearcache_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.size = sizeof stats;
  if (nearcache_get_stats(win, &stats) != MPI_SUCCESS) return 0;
  return stats.hits_full + stats.hits_pending + stats.hits_partial;
}

/* Rank 0 prints the result of both ranks; returns the same exit code on both. */
static int report(int rank, int size, int wrong, unsigned long long hits) {
  const int loaded = nearcache_get_stats != NULL;
  int all_wrong = 0;
  unsigned long long fewest = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&hits, &fewest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  const int code = size < 2 || all_wrong ? 1 : !loaded ? 2 : fewest ? 0 : 1;
  if (rank != 0) return code;
  if (size < 2)
    printf("selftest: FAILED it needs two ranks, but was started with %d\n", size);
  else if (all_wrong)
    printf("selftest: FAILED %d wrong values\n", all_wrong);
  else if (!loaded)
    printf("selftest: nearcache is not loaded\n");
  else if (!fewest)
    printf("selftest: FAILED no get was served from the cache\n");
  else
    printf("selftest: ok hits=%llu\n", fewest);
  fflush(stdout); /* launchers end all ranks when the first one has ended with an error */
  return code;
}

int main(int argc, char** argv) {
  int rank, size;
  long* memory;
  MPI_Win win;
  MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  MPI_Info_create(&info);
  MPI_Info_set(info, "nearcache_mode", "always");
  MPI_Info_set(info, "nearcache_skip_cheap", "false"); /* gets within a machine are cheap */
  MPI_Alloc_mem(count * sizeof *memory, MPI_INFO_NULL, &memory);
  for (int i = 0; i < count; i++) memory[i] = expected(rank, i);
  MPI_Win_create(memory, count * sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  MPI_Barrier(MPI_COMM_WORLD);

  const int wrong = read_all(win, (rank + 1) % size);
  const unsigned long long hits = nearcache_get_stats ? hits_of(win) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  MPI_Free_mem(memory);
  const int code = report(rank, size, wrong, hits);
  MPI_Finalize();
  return code;
}
