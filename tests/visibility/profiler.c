/* A profiler as many are: it wraps one call, and goes on by PMPI. */
#include <mpi.h>

int MPI_Win_flush_all(MPI_Win win) { return PMPI_Win_flush_all(win); }
