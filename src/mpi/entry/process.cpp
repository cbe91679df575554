// Start and end of MPI: the context learns of its job, the report is written.
#include "mpi/process/context.h"
#include "mpi/mpi_api.h"
#include "mpi/process/next.h"

using namespace nearcache::mpi;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int rc = next.Init(argc, argv);
  if (rc == MPI_SUCCESS) context_start(true);
  return rc;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int rc = next.Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS) context_start(true);
  return rc;
}

int MPI_Finalize(void) {
  context_report();
  context.observer.stop();
  context.progress.stop();
  return next.Finalize();
}

#ifdef NEARCACHE_HAS_Session_init
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  return next.Session_init(info, errhandler, session);
}

int MPI_Session_finalize(MPI_Session* session) { return next.Session_finalize(session); }
#endif

}  // extern "C"
