// SPDX-License-Identifier: BSD-3-Clause

// Start and end of MPI: the context learns about its job, and the report is written.
#include "mpi/process/context.h"

#include "mpi/entry/hooks.h"
#include "mpi/mpi_api.h"
#include "mpi/process/info_value.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

#ifdef NEARCACHE_HAS_Session_init
bool says_multiple(MPI_Info info) {
  return info_value(info, "thread_level") == "MPI_THREAD_MULTIPLE";
}

// The requested level counts too, because an MPI need not say what it has provided.
bool has_threads([[maybe_unused]] MPI_Info asked, [[maybe_unused]] MPI_Session session) {
  bool multiple = says_multiple(asked);
#ifdef NEARCACHE_HAS_Session_get_info
  MPI_Info provided = MPI_INFO_NULL;
  if (next.Session_get_info != nullptr &&
      next.Session_get_info(session, &provided) == MPI_SUCCESS && provided != MPI_INFO_NULL) {
    multiple = multiple || says_multiple(provided);
    next.Info_free(&provided);
  }
#endif
  return multiple;
}
#endif

}  // namespace
}  // namespace nearcache::mpi

using namespace nearcache::mpi;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int rc = next.Init(argc, argv);
  if (rc == MPI_SUCCESS) context_start();
  return rc;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int rc = next.Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS) context_start();
  return rc;
}

// A program or a library in front of us may have ended MPI already by a call that escaped us; then
// there is nobody left to ask.
int MPI_Finalize(void) {
  if (World::model_is_open()) {
    note_window_release();
    context.model_ends = true;
    context_stop(true);
  }
  return next.Finalize();
}

#ifdef NEARCACHE_HAS_Session_init
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const int rc = next.Session_init(info, errhandler, session);
  if (rc != MPI_SUCCESS) return rc;
  {
    const std::lock_guard lock(context.mutex);
    ++context.sessions;
  }
  context_begin(has_threads(info, *session));
  return rc;
}

// In a program that only has sessions, finalizing the last one ends MPI, unless the call fails.
int MPI_Session_finalize(MPI_Session* session) {
  note_window_release();
  bool last = false;
  {
    const std::lock_guard lock(context.mutex);
    last = --context.sessions == 0;
  }
  const bool end = last && !context.world.has_model();
  if (end) context_stop(false);
  const int rc = next.Session_finalize(session);
  if (rc != MPI_SUCCESS) {
    {
      const std::lock_guard lock(context.mutex);
      ++context.sessions;
    }
    if (end) context_start();
  }
  context.acquire();  // it may synchronise, and other windows than those of the session are left
  return rc;
}
#endif

}  // extern "C"
