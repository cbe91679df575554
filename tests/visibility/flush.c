/* A library that keeps its calls from profilers; -DWRAPS: it is a profiler itself. */
#include <mpi.h>

int flush_all(MPI_Win win) { return PMPI_Win_flush_all(win); }

#ifdef WRAPS
int MPI_Win_flush_local_all(MPI_Win win) { return PMPI_Win_flush_local_all(win); }
#endif
