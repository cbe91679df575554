// MPI_Get and MPI_Rget: the way of one get, from the program to the cache or to MPI (docs/architecture.md).
#include <climits>

#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/window/requests.h"
#include "mpi/window/sample_clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

// Fetches what a partial hit lacks. It begins at a whole displacement (Window::usable_head).
int fetch_tail(const Window& window, const GetCall& call, const Window::Decision& decision, MPI_Win handle) {
  const Access& access = decision.access;
  auto* to = static_cast<std::byte*>(call.origin) + access.origin.first_offset() + decision.head;
  const auto bytes = static_cast<int>(access.bytes - decision.head);
  const auto from = static_cast<MPI_Aint>((access.key.displacement + static_cast<int64_t>(decision.head)) / window.identity().unit);
  return next.Get(to, bytes, MPI_BYTE, call.target, from, bytes, MPI_BYTE, handle);
}

// The hot path: a hit of predefined types, from here to the copy without a call. Threads take the way with locks.
[[gnu::always_inline]] inline bool plain_hit(Window* window, const GetCall& call) {
  if (window == nullptr || !window->serves_plain_hits()) return false;
  if (!window->serve_plain_hit(call)) return false;
  if (context.progress.get_served()) [[unlikely]] window->call_for_progress();
  return true;
}

// A get of a window that is not cached, for the trace.
template <class Issue>
[[gnu::noinline]] int observed_get(Window& window, const GetCall& call, Issue issue) {
  WindowLock lock(window.mutex());
  const Window::Decision decision = window.observe_uncached(call, true);
  lock.unlock();
  const uint64_t start = sample_ticks();
  const int rc = issue();
  const uint64_t ticks = sample_ticks() - start;
  const WindowLock again(window.mutex());
  if (decision.sampled && rc == MPI_SUCCESS) window.sample_issued(call.target, decision.access.bytes, ticks);
  return rc;
}

// `issue` hands the call to MPI. Out of line, so that a hit is not charged for a miss's registers.
template <class Issue>
int cached_get(Window& window, const GetCall& call, MPI_Win handle, Issue issue) {
  if (!window.caching()) {
    window.outstanding_uncached(call.target, target_gets);
    return window.observed() ? observed_get(window, call, issue) : issue();
  }
  WindowLock lock(window.mutex());
  const Window::Decision decision = window.decide(call, false);
  if (decision.answer == Window::Answer::served) {
    lock.unlock();
    if (context.progress.get_served()) window.call_for_progress();
    return MPI_SUCCESS;
  }
  lock.unlock();
  context.progress.called();
  const uint64_t start = decision.sampled ? sample_ticks() : 0;
  const int rc = decision.answer == Window::Answer::tail ? fetch_tail(window, call, decision, handle) : issue();
  const uint64_t ticks = decision.sampled ? sample_ticks() - start : 0;
  const WindowLock again(window.mutex());
  if (rc != MPI_SUCCESS) return rc;
  if (decision.sampled) window.sample_issued(call.target, decision.access.bytes, ticks);
  if (decision.answer == Window::Answer::pass) {
    window.passed(call, decision);
  } else {
    window.issued(call, decision);
  }
  return rc;
}

// An Rget that is served needs a request of its own all the same: that of an empty get is complete at once.
int empty_request(int target, MPI_Win handle, MPI_Request* request) {
  return next.Rget(nullptr, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, handle, request);
}

template <class Issue>
int cached_rget(Window& window, const GetCall& call, MPI_Win handle, MPI_Request* request, Issue issue) {
  if (!window.caching()) {
    window.outstanding_uncached(call.target, target_gets);
    if (window.observed()) {
      const WindowLock lock(window.mutex());
      window.observe_uncached(call, false);
    }
    return issue();
  }
  WindowLock lock(window.mutex());
  const Window::Decision decision = window.decide(call, true);
  lock.unlock();
  context.progress.called();
  if (decision.answer == Window::Answer::served) return empty_request(call.target, handle, request);
  const int rc = issue();
  const WindowLock again(window.mutex());
  if (rc != MPI_SUCCESS) return rc;
  window.outstanding(call.target, target_gets);
  if (decision.answer != Window::Answer::miss) return rc;
  const uint32_t record = window.issued(call, decision);
  if (record != no_record) request_track(*request, &window, record, window.serial_of(record));
  return rc;
}

}  // namespace
}  // namespace nearcache::mpi

using namespace nearcache::mpi;

// All of MPI_Get but the hot path, out of line so that a hit does not pay for its registers.
[[gnu::noinline]] static int get_or_pass(Window* window, void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                         int target_rank, MPI_Aint target_disp, int target_count,
                                         MPI_Datatype target_datatype, MPI_Win win) {
  const auto issue = [&] {
    return next.Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  };
  return cached_get(*window, {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype},
                    win, issue);
}

extern "C" int MPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                       MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Window* window = find_window(win);
  if (plain_hit(window, {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype}))
    return MPI_SUCCESS;
  if (window == nullptr || (!window->caching() && !window->observed())) {
    if (window != nullptr) window->outstanding_uncached(target_rank, target_gets);
    return next.Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  }
  return get_or_pass(window, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
}

extern "C" int MPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                        MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
                        MPI_Request* request) {
  Window* window = context.windows.find(win);
  const auto issue = [&] {
    return next.Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  };
  if (window == nullptr) return issue();
  return cached_rget(*window, {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype},
                     win, request, issue);
}

#ifdef NEARCACHE_HAS_Get_c
extern "C" int MPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Window* window = context.windows.find(win);
  const auto issue = [&] {
    return next.Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  };
  if (window == nullptr) return issue();
  return cached_get(*window, {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype},
                    win, issue);
}

extern "C" int MPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                          MPI_Request* request) {
  Window* window = context.windows.find(win);
  const auto issue = [&] {
    return next.Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  };
  if (window == nullptr) return issue();
  return cached_rget(*window, {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype},
                     win, request, issue);
}
#endif
