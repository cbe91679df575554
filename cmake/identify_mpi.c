/* Preprocessed only, to learn of which family and version an mpi.h is
 * (cmake/NearcacheMpi.cmake). */
#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION)
#define DOTTED(a, b, c) a.b.c
#define EXPANDED(a, b, c) DOTTED(a, b, c)
nearcache_family openmpi EXPANDED(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
nearcache_family mpich MPICH_VERSION
#elif defined(MPI_ABI_VERSION)
#define DOTTED(a, b) a.b
#define EXPANDED(a, b) DOTTED(a, b)
nearcache_family abi EXPANDED(MPI_ABI_VERSION, MPI_ABI_SUBVERSION)
#endif
