// SPDX-License-Identifier: BSD-3-Clause

// Start and end of OpenSHMEM: sets up the context for the job, and writes the report.
#include "shmem/context.h"
#include "shmem/next.h"

using namespace nearcache::shmem;

namespace {

int thread_level() {
  const Inside inside_library;
  int level = SHMEM_THREAD_SINGLE;
  if (next.query_thread != nullptr) next.query_thread(&level);
  return level;
}

void began() {
  if (inside != 0) return;
  context.starts += 1;
  context_start(thread_level());
}

// True if this call ends a nested initialisation, which is only a barrier. OpenSHMEM 1.6 introduced
// those; earlier libraries end at the first call.
bool ends_a_nested_one() {
#ifdef NEARCACHE_SHMEM_HAS_query_initialized
  return context.starts > 1 && next.query_initialized != nullptr;
#else
  return false;
#endif
}

}  // namespace

extern "C" {

void shmem_init(void) {
  {
    const Inside inside_library;
    next.init();
  }
  began();
}

int shmem_init_thread(int requested, int* provided) {
  int rc = 0;
  {
    const Inside inside_library;
    rc = next.init_thread(requested, provided);
  }
  if (rc == 0) began();
  return rc;
}

void start_pes(int npes) {
  context.implicit_end = !context.started;
  {
    const Inside inside_library;
    next.old_start_pes(npes);
  }
  if (inside == 0) context_start(thread_level());
}

void shmem_finalize(void) {
  if (inside == 0 && ends_a_nested_one()) {
    context.starts -= 1;
    if (!active()) return next.finalize();
    calling = "shmem_finalize";
    const Barrier around;
    return next.finalize();
  }
  if (inside == 0) {
    context.starts = 0;
    context_finish(true);
  }
  const Inside inside_library;
  next.finalize();
}

// Ends all PEs at once, so nothing needs to be written back.
void shmem_global_exit(int status) {
  if (inside == 0) context_abandon();
  const Inside inside_library;
  next.global_exit(status);
}

#ifdef NEARCACHE_SHMEM_HAS_old_globalexit
void globalexit(int status) {
  if (inside == 0) context_abandon();
  const Inside inside_library;
  next.old_globalexit(status);
}
#endif

}  // extern "C"
