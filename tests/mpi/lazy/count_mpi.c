/* Another tool's preloaded wrapper, as profilers are: counts calls and passes them to the next
 * object. At MPI_Finalize rank 0 prints `count_mpi <name> gets G flushes F puts P frees W gathers
 * A`; the name is $COUNT_MPI_NAME. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long gets, flushes, puts_, frees, gathers;

/* Returns the next MPI_ symbol, not the PMPI_ one, so that tools stack. */
static void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "count_mpi: no next %s\n", name);
    exit(1);
  }
  return found;
}

int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  int (*call)(void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win) =
      next("MPI_Get");
  gets++;
  return call(origin, origin_count, origin_type, target, displacement, target_count, target_type,
              win);
}

int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  int (*call)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win) =
      next("MPI_Put");
  puts_++;
  return call(origin, origin_count, origin_type, target, displacement, target_count, target_type,
              win);
}

int MPI_Win_flush(int rank, MPI_Win win) {
  int (*call)(int, MPI_Win) = next("MPI_Win_flush");
  flushes++;
  return call(rank, win);
}

int MPI_Win_free(MPI_Win* win) {
  int (*call)(MPI_Win*) = next("MPI_Win_free");
  frees++;
  return call(win);
}

int MPI_Iallgather(const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
                   int received_count, MPI_Datatype received_type, MPI_Comm comm,
                   MPI_Request* request) {
  int (*call)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*) =
      next("MPI_Iallgather");
  gathers++;
  return call(sent, sent_count, sent_type, received, received_count, received_type, comm, request);
}

int MPI_Finalize(void) {
  int rank = 0;
  int (*call)(void) = next("MPI_Finalize");
  const char* name = getenv("COUNT_MPI_NAME");
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("count_mpi %s gets %ld flushes %ld puts %ld frees %ld gathers %ld\n",
           name ? name : "here", gets, flushes, puts_, frees, gathers);
    fflush(stdout);
  }
  return call();
}
