// Puts and accumulates: passed to MPI, and noted so that no entry older than a write of our own is served.
#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

// The write is noted before it is issued: once MPI has it, the data may change at any time.
template <class Issue>
int noted_write(MPI_Win handle, TraceWrite kind, int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type, Issue issue) {
  Window* window = context.windows.find(handle);
  if (window == nullptr) return issue();
  context.progress.called();
  {
    const WindowLock lock(window->mutex());
    ++(kind == TraceWrite::put ? window->counters().puts : window->counters().accumulates);
    if (window->observed()) window->observe_write(kind, target, displacement, count, type);
    if (window->caching()) {
      window->write(target, displacement, count, type);
    } else {
      window->outstanding_uncached(target, target_writes);
    }
  }
  const int rc = issue();
  // Again, since another thread's flush may have come between and not have covered it.
  if (context.threaded && window->caching()) {
    const WindowLock lock(window->mutex());
    window->outstanding(target, target_writes);
  }
  return rc;
}

}  // namespace
}  // namespace nearcache::mpi

using namespace nearcache::mpi;
using nearcache::TraceWrite;

extern "C" {

int MPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return noted_write(win, TraceWrite::put, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  });
}

int MPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  return noted_write(win, TraceWrite::put, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  });
}

int MPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return noted_write(win, TraceWrite::accumulate, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  });
}

int MPI_Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request* request) {
  return noted_write(win, TraceWrite::accumulate, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
  });
}

int MPI_Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return noted_write(win, TraceWrite::fetch, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                               target_rank, target_disp, target_count, target_datatype, op, win);
  });
}

int MPI_Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  return noted_write(win, TraceWrite::fetch, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                                target_rank, target_disp, target_count, target_datatype, op, win, request);
  });
}

int MPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                     MPI_Op op, MPI_Win win) {
  return noted_write(win, TraceWrite::fetch, target_rank, target_disp, 1, datatype,
                     [&] { return next.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win); });
}

int MPI_Compare_and_swap(const void* origin_addr, NEARCACHE_COMPARE_CONST void* compare_addr, void* result_addr,
                         MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  return noted_write(win, TraceWrite::fetch, target_rank, target_disp, 1, datatype, [&] {
    return next.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
  });
}

#ifdef NEARCACHE_HAS_Put_c
int MPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return noted_write(win, TraceWrite::put, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  });
}

int MPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  return noted_write(win, TraceWrite::put, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  });
}

int MPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return noted_write(win, TraceWrite::accumulate, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  });
}

int MPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                      MPI_Request* request) {
  return noted_write(win, TraceWrite::accumulate, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
  });
}

int MPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
                         MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return noted_write(win, TraceWrite::fetch, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                                 target_rank, target_disp, target_count, target_datatype, op, win);
  });
}

int MPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
                          MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  return noted_write(win, TraceWrite::fetch, target_rank, target_disp, target_count, target_datatype, [&] {
    return next.Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                                  target_rank, target_disp, target_count, target_datatype, op, win, request);
  });
}
#endif

}  // extern "C"
