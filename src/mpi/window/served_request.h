// SPDX-License-Identifier: BSD-3-Clause

// The request of Rgets that were served from the cache. Many MPIs give all requests that are
// complete at once the same handle, of an object that is never counted or freed. With those, that
// handle is returned without calling MPI, and waiting for it needs no call either. With others, a
// served Rget gets the request of an empty Rget.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class ServedRequest {
 public:
  // Returns true if the handle is known and may be handed out.
  bool shared() const { return state_.load(std::memory_order_acquire) == State::shared; }
  MPI_Request handle() const { return handle_.load(std::memory_order_relaxed); }
  bool is(MPI_Request request) const { return shared() && request == handle(); }

  // Makes a request for an Rget from `target` in an open epoch of `window`. The first call finds
  // out how this MPI behaves.
  int make(MPI_Win window, int target, MPI_Request* request) {
    if (!shared()) return make_by_call(window, target, request);
    *request = take();
    return MPI_SUCCESS;
  }
  MPI_Request take() {
    out_.store(out_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return handle();
  }
  // One request was waited for.
  void taken() {
    if (const uint32_t out = out_.load(std::memory_order_relaxed); out > 0)
      out_.store(out - 1, std::memory_order_relaxed);
  }
  // Returns true if some requests may not have been waited for. Approximate: threads may lose
  // count, and the program may have obtained the same handle elsewhere.
  bool out() const { return out_.load(std::memory_order_relaxed) > 0; }

 private:
  enum class State : uint8_t { unknown, shared, none };
  int make_by_call(MPI_Win window, int target, MPI_Request* request);

  std::atomic<State> state_{State::unknown};
  std::atomic<MPI_Request> handle_{};
  std::atomic<uint32_t> out_{0};
};

inline constinit ServedRequest served_request;

}  // namespace nearcache::mpi
