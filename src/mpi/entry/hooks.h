// SPDX-License-Identifier: BSD-3-Clause

// What the generated wrappers report to the cache: acquires, and what becomes of requests.
// Implemented in requests.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/handle_bits.h"
#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/rma/layer.h"
#include "mpi/window/deferred_locks.h"
#include "mpi/window/served_request.h"

namespace nearcache::mpi {

// The program may have learned that another rank's access is complete: in mode `transparent`,
// nothing that was read before may be served from now on.
inline void note_acquire() noexcept {
  rma_host_returned();
  context.acquire();
  if (context.observer.wanted()) [[unlikely]]
    context.observer.acquire();
}

// Whether note_acquire() has anything to do.
[[gnu::always_inline]] inline bool acquire_matters() noexcept {
  return rma_was_helped() || !context.learns_nothing() || context.observer.wanted();
}

// By the call that follows, others may learn what this rank has done, and that it has asked for
// locks.
inline void note_release() noexcept {
  rma_host_is_called();
  context.coherence.release();
  take_waiting_locks();
}
// Whether note_release(), or what comes before a receive, has anything to do.
[[gnu::always_inline]] inline bool release_matters() noexcept {
  return rma_may_let_go() || locks_wait() || !context.coherence.nobody_ever_reads() ||
         context.observer.tracing();
}
// Like note_release(), for a call on a window: the engine itself knows when to send what it holds.
inline void note_window_release() noexcept {
  context.coherence.release();
  take_waiting_locks();
}
// The program is about to look for a message, or at a request.
inline void note_look() noexcept { rma_host_is_called(); }
// Called before a put or an accumulate, which is announced to readers (mpi/process/phases.h).
inline void note_write() noexcept { context.coherence.attend(); }

// Gets or own writes are complete: an acquire too, unless no rank is known to write
// (mpi/process/phases.h).
inline void note_completion() noexcept {
  rma_host_returned();
  context.completed();
}

// note_acquire() after a call that returned `code`, which is returned.
[[gnu::noinline]] int acquired(int code) noexcept;

// note_all_meet(): a collective call follows that no rank leaves before all have entered.
// note_all_met(): such a call on `comm` has returned `code`. note_comm_gone(): a communicator is
// about to be freed, or has been.
inline void note_all_meet() noexcept { context.coherence.meets(); }
void note_all_met(int code, MPI_Comm comm) noexcept;
void note_comm_gone() noexcept;

// Called before and after a collective call or a receive, by which others may learn that this rank
// has written its own memory. The look afterwards establishes that writes found later were not made
// before.
void note_own_writes() noexcept;

// Number of tracked requests of this process: gets, puts and accumulates with a request on a cached
// window.
inline constinit std::atomic<size_t> tracked_requests{0};
inline bool requests_tracked() noexcept {
  return tracked_requests.load(std::memory_order_acquire) != 0;
}

// A request of a get or an own write of which nothing is kept: its completion says nothing about
// other ranks. Counts those with the same handle.
struct PlainRequest {
  uint64_t key = 0;
  uint32_t count = 0;
  void change(bool more) noexcept;
};
// Mostly there is just one, or MPI gives all of them the same handle; others are in requests.cpp.
// With several threads they are used under the mutex there.
inline constinit PlainRequest usual_plain;
// Number of all of them, which tracked_requests counts, too.
inline constinit size_t plain_requests = 0;

inline void PlainRequest::change(bool more) noexcept {
  const size_t by = more ? 1 : SIZE_MAX;
  count += static_cast<uint32_t>(by);
  plain_requests += by;
  if (context.threaded) {
    tracked_requests += by;
  } else {  // atomic additions would be most of what a plain request costs
    tracked_requests.store(tracked_requests.load(std::memory_order_relaxed) + by,
                           std::memory_order_relaxed);
  }
}

// Called for a wait or a test of one request, of which RequestWatch would find no more than that it
// is plain.
inline bool usual_plain_is_waited_for(const MPI_Request* request) noexcept {
  return !context.threaded && usual_plain.count != 0 && request != nullptr &&
         handle_bits(*request) == usual_plain.key &&
         tracked_requests.load(std::memory_order_relaxed) == plain_requests;
}
inline void usual_plain_was_waited_for(const MPI_Request* after) noexcept {
  if (*after == MPI_REQUEST_NULL) usual_plain.change(false);
}

// Also true if a served Rget has not been waited for. Completing such requests may say nothing
// about others.
inline bool requests_known() noexcept { return requests_tracked() || served_request.out(); }

// Lets MPI make progress while waits are answered without calling it.
void call_for_progress_of_waits() noexcept;

// Called for a wait or a test of the handle shared by all served Rgets, which is complete. Answered
// here unless the program wants the status, or the handle may also be that of a tracked request.
inline bool served_is_waited_for(MPI_Request* request, const MPI_Status* status) noexcept {
  if (request == nullptr || !served_request.is(*request) || status != MPI_STATUS_IGNORE ||
      requests_tracked())
    return false;
  *request = MPI_REQUEST_NULL;
  served_request.taken();
  if (context.progress.served()) call_for_progress_of_waits();
  note_completion();
  return true;
}

// Inspects `count` requests before a call that may complete them; afterwards reports what became of
// the tracked ones.
class RequestWatch {
 public:
  RequestWatch(int count, const MPI_Request* before);
  ~RequestWatch();
  RequestWatch(const RequestWatch&) = delete;
  RequestWatch& operator=(const RequestWatch&) = delete;

  // Called after a call that frees what it completes: tracked requests that are now
  // MPI_REQUEST_NULL are complete. If the call returned an error, there is no telling which of them
  // received their data: tracking ends and nothing of them is kept.
  void completed(int code, const MPI_Request* after);

  // Whether the call may have completed anything but gets and own writes of this process's windows,
  // which carry no news of others.
  bool tells_of_others() const { return others_; }

  // Called after a successful call that only inspects: request `index` is complete, or all are.
  // From now on the program may change their buffers.
  void found_complete(int index);
  void all_found_complete();

  // Called before a call after which their completion cannot be observed. Waits for those whose
  // data does not arrive directly in the program's buffer.
  void not_to_be_kept(const MPI_Request* requests);

  // Called before the program frees the request (MPI_Request_free), and after: it completes with
  // its epoch. If it is complete, others that the program has yet to wait for may have the same
  // handle: their data is taken before.
  void to_be_released(const MPI_Request* request) const;
  void released(int code);

 private:
  struct Found {
    int index;
    uint64_t key;     // the handle as it was before the call
    uint64_t ticket;  // distinguishes the request from a later one with the same handle
    mutable bool over = false;
  };
  // Special tickets: the shared handle of served Rgets; a get of which nothing is kept, or an own
  // write. With several threads the latter is not noted during the call: by the time the call
  // returns, the handle may belong to another request.
  static constexpr uint64_t of_served = UINT64_MAX, of_plain = 0;
  void end(const Found& found, bool succeeded, uint64_t ticks = 0) const;
  void end_plain(const Found& found) const;
  static void tested(const Found& found, uint64_t ticks);
  const bool threaded_;  // at construction
  bool others_ = false;
  // The tracked ones among the requests, as they were before the call. Allocates no memory for up
  // to two.
  class List {
   public:
    void push_back(const Found& found) {
      if (count_ < few_.size()) {
        few_[count_++] = found;
        return;
      }
      if (many_.empty()) many_.assign(few_.begin(), few_.end());
      many_.push_back(found);
    }
    const Found* begin() const { return many_.empty() ? few_.data() : many_.data(); }
    const Found* end() const {
      return many_.empty() ? few_.data() + count_ : many_.data() + many_.size();
    }

   private:
    std::array<Found, 2> few_;
    size_t count_ = 0;
    std::vector<Found> many_;
  };
  List found_;
  uint64_t began_ = 0;  // start of the call, in ticks, if it is about a single, measured request
};

}  // namespace nearcache::mpi
