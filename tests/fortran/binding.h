! One source for the three Fortran bindings: -DBINDING_MPIF_H, -DBINDING_MPI or -DBINDING_MPI_F08.
! With mpi_f08 ierror is left out, so that the absent optional argument is tested too.
#ifdef BINDING_MPI_F08
#define USE_BINDING use mpi_f08
#define INCLUDE_BINDING
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status)::name
#define STATUSES(name, n) type(MPI_Status)::name(n)
#define TAG_OF(status) status % MPI_TAG
#define TAG_OF_NTH(statuses, i) statuses(i) % MPI_TAG
#define IERR )
#elif defined(BINDING_MPI)
#define USE_BINDING use mpi
#define INCLUDE_BINDING
#define HANDLE(kind) integer
#define STATUS(name) integer ::name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer ::name(MPI_STATUS_SIZE, n)
#define TAG_OF(status) status(MPI_TAG)
#define TAG_OF_NTH(statuses, i) statuses(MPI_TAG, i)
#define IERR , ierr)
#else
#define USE_BINDING
#define INCLUDE_BINDING include 'mpif.h'
#define HANDLE(kind) integer
#define STATUS(name) integer ::name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer ::name(MPI_STATUS_SIZE, n)
#define TAG_OF(status) status(MPI_TAG)
#define TAG_OF_NTH(statuses, i) statuses(MPI_TAG, i)
#define IERR , ierr)
#endif
