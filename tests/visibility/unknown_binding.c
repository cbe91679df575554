/* Two entry points of a Fortran binding that end in PMPI and that Nearcache does not know. */
#include <mpi.h>

void mpi_win_fence_(void);
void mpi_win_fence_f08ts_(void);

void mpi_win_fence_(void) { PMPI_Win_fence(0, MPI_WIN_NULL); }
void mpi_win_fence_f08ts_(void) { PMPI_Win_fence(0, MPI_WIN_NULL); }
