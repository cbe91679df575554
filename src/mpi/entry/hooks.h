// What the generated wrappers tell the cache: acquires, and the fate of requests. Implemented in
// requests.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/rma/layer.h"
#include "mpi/window/deferred_locks.h"
#include "mpi/window/served_request.h"

namespace nearcache::mpi {

// The program may have learned that another rank's access is complete: in mode `transparent`
// nothing that was read before may be served after.
inline void note_acquire() noexcept {
  rma_host_returned();
  context.acquire();
  if (context.observer.wanted()) [[unlikely]]
    context.observer.acquire();
}

// Others may learn by the call that follows what this rank has done, and that it has asked for
// locks.
inline void note_release() noexcept {
  rma_host_is_called();
  context.coherence.release();
  take_waiting_locks();
}
// The same of a call of windows: an engine that holds anything knows itself when it goes.
inline void note_window_release() noexcept {
  context.coherence.release();
  take_waiting_locks();
}
// The program is about to look for a message, or at a request.
inline void note_look() noexcept { rma_host_is_called(); }
// The same, of a put or an accumulate, of which readers are told (mpi/process/phases.h).
inline void note_write() noexcept { context.coherence.attend(); }

// Gets, or own writes, are complete: an acquire too, unless nobody is known to write
// (mpi/process/phases.h).
inline void note_completion() noexcept {
  rma_host_returned();
  context.completed();
}

// A collective call on `comm` has ended, which no rank leaves before all have entered; `code`: what
// it returned. A communicator is about to end.
void note_all_met(int code, MPI_Comm comm) noexcept;
void note_comm_gone() noexcept;

// Before and after a collective call, or a receive: others may learn by it that this rank has
// written its own memory. The look after it says that what is found later was not written before.
void note_own_writes() noexcept;

// Whether any request of this process is tracked: a get, put or accumulate with a request on a
// cached window.
inline constinit std::atomic<size_t> tracked_requests{0};
inline bool requests_tracked() noexcept {
  return tracked_requests.load(std::memory_order_relaxed) != 0;
}
// Or a served Rget has not been waited for: then a call may tell nothing of others.
inline bool requests_known() noexcept { return requests_tracked() || served_request.out(); }

// A wait or a test of the request that all served Rgets have, which is complete: answered here,
// unless the program wants to know its status, or the handle may be that of a tracked request too.
inline bool served_is_waited_for(MPI_Request* request, const MPI_Status* status) noexcept {
  if (request == nullptr || !served_request.is(*request) || status != MPI_STATUS_IGNORE ||
      requests_tracked())
    return false;
  *request = MPI_REQUEST_NULL;
  served_request.taken();
  if (context.progress.served()) context.progress.call();
  note_completion();
  return true;
}

// Looks at `count` requests before a call that may complete them; then tells what became of the
// tracked ones.
class RequestWatch {
 public:
  RequestWatch(int count, const MPI_Request* before);
  ~RequestWatch();
  RequestWatch(const RequestWatch&) = delete;
  RequestWatch& operator=(const RequestWatch&) = delete;

  // After a call that frees what it completes: tracked requests that are MPI_REQUEST_NULL now are
  // complete. If it returned an error, there is no telling which of them brought their data: they
  // end, and nothing of them is kept.
  void completed(int code, const MPI_Request* after);

  // Whether the call may have completed anything but gets and own writes of this process' windows,
  // by which it learns nothing of others.
  bool tells_of_others() const { return others_; }

  // After a successful call that only looks: request `index` is complete, or all are. The program
  // may change their buffers from now on.
  void found_complete(int index);
  void all_found_complete();

  // Before a call after which there is no telling when they are complete. Those whose data does not
  // arrive where the program wants it are waited for.
  void not_to_be_kept(const MPI_Request* requests);

  // The program let go of them (MPI_Request_free): they complete with their epoch.
  void released(int code);

 private:
  struct Found {
    int index;
    uint64_t key;     // the handle, as it was
    uint64_t ticket;  // tells the request from a later one that MPI gives the same handle
    mutable bool over = false;
  };
  // as a ticket: the handle of served Rgets; a get of which nothing is kept, or an own write. Among
  // threads the latter is not noted during the call: when that returns, the handle may be
  // another's.
  static constexpr uint64_t of_served = UINT64_MAX, of_plain = 0;
  void end(const Found& found, bool succeeded, uint64_t ticks = 0) const;
  void end_plain(const Found& found) const;
  static void tested(const Found& found, uint64_t ticks);
  const bool threaded_;  // when it began
  bool others_ = false;
  // The tracked ones among the requests, as they were before the call; no memory is allocated for a
  // few.
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
  uint64_t began_ = 0;  // the call, in ticks, if it is of one request, which is measured
};

}  // namespace nearcache::mpi
