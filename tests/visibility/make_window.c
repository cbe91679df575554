/* Makes the window of windows.c, in an object of its own. */
#include <mpi.h>

int make_window(void* memory, MPI_Aint size, MPI_Win* win) {
  return MPI_Win_create(memory, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
}
