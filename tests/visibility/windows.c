/* Makes a window and says whether Nearcache caches it: `window cached` or `window left alone`.
 * -DMADE_ELSEWHERE: make_window is in a shared object, as if a part of the MPI library made it.
 * -DSENDS_PMPI: the program's messages pass by PMPI, which tells others of this rank only.
 * -DCALLS_PMPI: the program flushes by PMPI, which Nearcache does not see. -DASKS_PMPI: it asks for
 * the window's group so. -DFLUSHED_ELSEWHERE: flush_all is in a shared object. -DFORTRAN=NAME: the
 * program imports what a Fortran program does that calls PMPI_Barrier. */
#include <mpi.h>
#include <stdio.h>

__attribute__((weak)) int nearcache_get_mode(MPI_Win win, int* mode);

#ifdef MADE_ELSEWHERE
int make_window(void* memory, MPI_Aint size, MPI_Win* win);
#else
static int make_window(void* memory, MPI_Aint size, MPI_Win* win) {
  return MPI_Win_create(memory, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
}
#endif

#if defined(FLUSHED_ELSEWHERE)
int flush_all(MPI_Win win);
#elif defined(CALLS_PMPI)
#define flush_all PMPI_Win_flush_all
#else
#define flush_all MPI_Win_flush_all
#endif

#ifdef FORTRAN
__attribute__((weak)) void FORTRAN(void);
#endif

int main(int argc, char** argv) {
  long memory = 5;
  int mode, rank;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make_window(&memory, sizeof memory, &win);
  MPI_Win_lock_all(0, win);
#ifdef ASKS_PMPI
  MPI_Group group;
  PMPI_Win_get_group(win, &group);
  MPI_Group_free(&group);
#endif
#ifdef SENDS_PMPI
  int sent = 1, received;
  MPI_Request request;
  PMPI_Isend(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(&received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
#ifdef FORTRAN
  if (FORTRAN && rank < 0) return 1;
#endif
  flush_all(win);
  MPI_Win_unlock_all(win);
  if (rank == 0 && nearcache_get_mode)
    printf("window %s\n", nearcache_get_mode(win, &mode) == MPI_SUCCESS ? "cached" : "left alone");
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
