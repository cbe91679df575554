/* Ways to read other ranks' memory, by name: what `nearcache advise` must tell apart.
 *
 *   access_patterns PATTERN [MODE [EXIT_CODE]]     MODE: of the window, by info key; - for none */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block = 256, blocks = 256 };

static int rank, ranks;

static void read_all(MPI_Win win, char* into, int first, int count) {
  const int target = (rank + 1) % ranks;
  for (int i = first; i < first + count; ++i) {
    MPI_Get(into, block, MPI_BYTE, target, (MPI_Aint)i * block, block, MPI_BYTE, win);
    MPI_Win_flush(target, win);
  }
}

/* All ranks wait for each other without a collective call or a message: by counting in rank 0's
 * memory. */
static void meet(MPI_Win counters, int64_t times) {
  const int64_t one = 1;
  int64_t seen = 0;
  MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, 0, 0, MPI_SUM, counters);
  MPI_Win_flush(0, counters);
  while (seen < times * ranks) {
    sched_yield();
    MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, 0, 0, MPI_NO_OP, counters);
    MPI_Win_flush(0, counters);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* pattern = argc > 1 ? argv[1] : "";
  char *memory, into[block];
  MPI_Win win;
  MPI_Info info;
  MPI_Info_create(&info);
  if (argc > 2 && strcmp(argv[2], "-") != 0) MPI_Info_set(info, "nearcache_mode", argv[2]);
  MPI_Win_allocate(block * blocks * 8, 1, info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info_free(&info);
  memset(memory, 1, block * blocks * 8);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (!strcmp(pattern, "read_only")) {
    for (int pass = 0; pass < 10; ++pass) read_all(win, into, 0, blocks);
    /* stores between barriers, then passes over what was stored */
  } else if (!strcmp(pattern, "phases")) {
    for (int phase = 0; phase < 5; ++phase) {
      memset(memory, phase + 2, block * blocks);
      MPI_Win_sync(win);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_sync(win);
      for (int pass = 0; pass < 4; ++pass) read_all(win, into, 0, blocks);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    /* a pass between barriers, and before each a store that changes a small part of what is read */
  } else if (!strcmp(pattern, "islands")) {
    for (int phase = 0; phase < 40; ++phase) {
      memset(memory, phase + 2, block);
      MPI_Win_sync(win);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_sync(win);
      read_all(win, into, 0, blocks);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    /* every rank puts while it reads what others put */
  } else if (!strcmp(pattern, "puts_between")) {
    MPI_Win counters;
    int64_t* counter;
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &counters);
    *counter = 0;
    MPI_Win_lock_all(0, counters);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int pass = 0; pass < 10; ++pass) {
      meet(counters, pass + 1);
      for (int i = 0; i < blocks; ++i) {
        read_all(win, into, i, 1);
        MPI_Put(into, block, MPI_BYTE, (rank + ranks - 1) % ranks,
                (MPI_Aint)((i * 7) % blocks) * block, block, MPI_BYTE, win);
        MPI_Win_flush((rank + ranks - 1) % ranks, win);
      }
    }
    MPI_Win_unlock_all(counters);
    MPI_Win_free(&counters);
  } else if (!strcmp(pattern, "once")) { /* nothing is asked for twice */
    read_all(win, into, 0, blocks * 8);
  } else if (!strcmp(pattern, "epochs")) { /* repeats, but all within one epoch */
    static char many[64][block];
    for (int i = 0; i < blocks / 4; ++i) {
      for (int k = 0; k < 64; ++k)
        MPI_Get(many[k], block, MPI_BYTE, (rank + 1) % ranks, (MPI_Aint)(i + k % 2) * block, block,
                MPI_BYTE, win);
      MPI_Win_flush((rank + 1) % ranks, win);
    }
  } else if (!strcmp(pattern, "own")) { /* no remote access at all */
    for (int i = 0; i < blocks; ++i) {
      MPI_Get(into, block, MPI_BYTE, rank, (MPI_Aint)i * block, block, MPI_BYTE, win);
      MPI_Win_flush(rank, win);
    }
  } else {
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return argc > 3 ? atoi(argv[3]) : 0;
}
