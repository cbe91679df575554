// SPDX-License-Identifier: BSD-3-Clause

// The path of one get, from the program to the cache or to MPI (docs/architecture.md). Shared by
// the generated MPI_Get, MPI_Rget and their large-count forms.
#pragma once

#include <climits>

#include "mpi/coherence/receives.h"
#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/window/plain_hit.h"
#include "mpi/window/requests.h"
#include "mpi/window/sample_clock.h"
#include "mpi/window/served_request.h"

namespace nearcache::mpi {

// The hot path: a hit in the most recently used window, with the most recently used predefined
// type. There is no call from here to the copy. Programs with threads take the path with locks.
[[gnu::always_inline]] inline bool plain_hit(Window& window, const GetCall& call) {
  if (!window.serves_plain_hits() || !window.serve_plain_hit(call)) return false;
  if (context.progress.served()) [[unlikely]]
    window.call_for_progress();
  return true;
}

// For another window or type than last time: tries the hot path once these are the current ones.
inline bool plain_hit_of_another(Window* window, const Window* last, const GetCall& call) {
  if (window == nullptr || (window == last && window->knows_plain_type(call.origin_type)))
    return false;
  const bool other_type = window->learn_plain_type(call.origin_type);
  return (other_type || window != last) && plain_hit(*window, call);
}

// Whether a get goes to MPI without being noted.
[[gnu::always_inline]] inline bool passes(Window* window, MPI_Win handle, int target,
                                          MPI_Datatype type, MPI_Count count) {
  return window != nullptr && window->handle() == handle && window->get_passes(target, type, count);
}

// No observer needs to see gets of this window, and no deferred lock has to be taken before one.
inline bool left_alone(const Window* window) {
  return window == nullptr ||
         (!window->caching() && !window->observed() && !window->locks_deferred());
}

// Notes a get of a window that is not cached, since the mode may be switched on later.
inline void uncached_get(Window& window, int target, MPI_Datatype type) {
  window.get_issued_uncached(target);
  if (!context.threaded && window.valid_target(target)) window.maybe_pause(type, 1);
}

// Makes a get of a window that is not cached, reporting it to the trace.
template <class Issue>
[[gnu::noinline]] int observed_get(Window& window, const GetCall& call, Issue issue) {
  WindowLock lock(window.mutex());
  const Window::Decision decision = window.observe_uncached(call, false);
  lock.unlock();
  const uint64_t start = sample_ticks();
  const int rc = issue();
  const uint64_t ticks = sample_ticks() - start;
  const WindowLock again(window.mutex());
  if (decision.sampled && rc == MPI_SUCCESS)
    window.sample_issued(call.target, decision.get.bytes, ticks);
  return rc;
}

// Fetches the missing rest of a partial hit, which begins at a whole displacement.
int fetch_rest(const Window& window, const GetCall& call, const Window::Decision& decision);
// Fetches the line around a small get, which does not fit in the caller's buffer.
int fetch_line(const Window& window, const GetCall& call, const Window::Decision& decision);
int fetch_line(const Window& window, const GetCall& call, const Window::Decision& decision,
               MPI_Request* request);

// Fetches the next places of a stride; they are completed along with the get that has been issued.
void read_ahead(Window& window, const GetCall& call, const Window::Decision& decision);

// `issue` passes the call to MPI, and announces the receive.
template <class Issue>
int cached_get(Window& window, const GetCall& call, Issue issue) {
  if (window.pause_takes(call)) return issue();
  if (!window.caching()) {
    if (window.locks_deferred()) [[unlikely]] {
      if (const int rc = window.take_locks(window.targets(call.target)); rc != MPI_SUCCESS)
        return rc;
    }
    window.get_issued_uncached(call.target);
    return window.observed() ? observed_get(window, call, issue) : issue();
  }
  if (window.locks_deferred()) [[unlikely]]
    window.prepare_to_serve(call);
  WindowLock lock(window.mutex());
  const Window::Decision decision = window.decide(call, false);
  lock.unlock();
  if (decision.answer() == Window::Answer::served) {
    if (context.progress.served()) window.call_for_progress();
    return MPI_SUCCESS;
  }
  context.progress.called();
  int rc = MPI_SUCCESS;
  if (window.locks_deferred()) [[unlikely]]
    rc = window.take_locks(window.targets(call.target));
  const uint64_t start = decision.sampled ? sample_ticks() : 0;
  if (rc == MPI_SUCCESS)
    rc = decision.answer() == Window::Answer::rest ? fetch_rest(window, call, decision)
         : decision.fetches_line()                 ? fetch_line(window, call, decision)
                                                   : issue();
  const uint64_t ticks = decision.sampled ? sample_ticks() - start : 0;
  WindowLock again(window.mutex());
  if (rc != MPI_SUCCESS) {
    window.get_refused(call, decision);
    return rc;
  }
  if (decision.sampled) window.sample_issued(call.target, decision.bytes(), ticks);
  if (decision.answer() == Window::Answer::pass) {
    window.passed(call, decision);
    return rc;
  }
  window.issued(call, decision);
  again.unlock();
  if (decision.cached.ahead.places > 0) read_ahead(window, call, decision);
  return rc;
}

// Makes an Rget that MPI answers: issues it, measures it if that is due, and tracks its request if
// anything of it is to be kept.
template <class Issue>
int issued_rget(Window& window, const GetCall& call, const Window::Decision& decision,
                MPI_Request* request, Issue issue) {
  const uint64_t start = decision.sampled ? sample_ticks() : 0;
  const int rc = decision.fetches_line() ? fetch_line(window, call, decision, request) : issue();
  const uint64_t ticks = decision.sampled ? sample_ticks() - start : 0;
  WindowLock lock(window.mutex());
  if (rc != MPI_SUCCESS) {
    window.get_refused(call, decision);
    return rc;
  }
  uint64_t sample = 0;
  if (decision.sampled) {
    sample = window.sample_request(call.target, decision.bytes(), ticks);
  } else {
    window.request_joined(call.target, decision.bytes());
  }
  uint32_t record = no_record;
  if (decision.answer() != Window::Answer::pass) {
    record = window.issued(call, decision);
  } else if (window.caching()) {
    window.passed(call, decision);
  }
  uint64_t serial = 0;
  if (record != no_record) {
    window.belongs_to_request(record);
    serial = window.serial_of(record);
  }
  lock.unlock();
  if (record == no_record && sample == 0) return noted_plain(rc, request);
  request_track(*request, &window, record, serial, sample);
  return rc;
}

template <class Issue>
int cached_rget(Window& window, const GetCall& call, MPI_Request* request, Issue issue) {
  if (window.pause_takes(call)) return noted_plain(issue(), request);
  if (request == nullptr) [[unlikely]]
    return issue();  // an error, which MPI reports
  if (window.locks_deferred()) [[unlikely]] {
    if (const int rc = window.confirm_served(window.targets(call.target)); rc != MPI_SUCCESS) {
      window.decides_nothing();
      return rc;
    }
  }
  if (!window.caching()) {
    window.get_issued_uncached(call.target);
    if (!window.observed()) return noted_plain(issue(), request);
    WindowLock lock(window.mutex());
    const Window::Decision decision = window.observe_uncached(call, true);
    lock.unlock();
    return issued_rget(window, call, decision, request, issue);
  }
  WindowLock lock(window.mutex());
  const Window::Decision decision = window.decide(call, true);
  lock.unlock();
  if (decision.answer() == Window::Answer::served) {
    if (!served_request.shared()) {
      context.progress.called();
    } else if (context.progress.served()) {
      window.call_for_progress();
    }
    const int rc = served_request.make(window.handle(), call.target, request);
    return served_request.shared() ? rc : noted_plain(rc, request);
  }
  context.progress.called();
  return issued_rget(window, call, decision, request, issue);
}

}  // namespace nearcache::mpi
