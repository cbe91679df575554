// SPDX-License-Identifier: BSD-3-Clause

// Requests of gets and fetching accumulates on windows of the engine while their data is in flight:
// generalized requests of the host. The agent makes no MPI calls, so these requests are completed
// by the program's calls that look at requests (fetches.cpp handles MPI_Wait and the like).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/rma/station.h"

namespace nearcache::mpi {

class EngineWindow;

class Fetches {
 public:
  explicit Fetches(Station* station) : station_(station) {}

  // Returns true if the last fetch has arrived, or there was none. Call under the agent's lock.
  bool idle() const {
    return last_.window == nullptr || last_.window->reached(last_.rank, last_.mark);
  }
  // Makes the request of the fetch that is complete when the target reaches `mark`. Must be called
  // without the lock.
  int begin(const EngineWindow& of, rma::Window* window, int rank, rma::Mark mark,
            MPI_Request* request);
  // Returns true if nothing is in flight, and no failed request is left; the calls below are then
  // unnecessary.
  bool none() const { return under_way_.load(std::memory_order_relaxed) == 0; }

  // Each calls the error handler of the window of a request that has failed. The host's request is
  // complete as any other: FailedFetches says which have failed.

  // Polls the network, and completes those of the requests that have arrived.
  void settle(int count, const MPI_Request* requests);
  // Waits until all of our requests among these have arrived, and completes them.
  void wait(int count, const MPI_Request* requests);
  // The program is about to free the request: nobody will wait for it, and its error is reported
  // by the next synchronisation with the target.
  void let_go(const MPI_Request* request);
  // For calls that need one complete request: if all of the requests are ours, waits until one has
  // arrived; otherwise polls once and yields.
  void wait_for_one(int count, const MPI_Request* requests);
  // Returns true if one of them is ours and in flight.
  bool has(int count, const MPI_Request* requests) { return !find(count, requests).empty(); }
  // Completes the fetches of a window that is about to be freed.
  void end(const rma::Window* window);

 private:
  friend class FailedFetches;
  struct Fetch {
    const EngineWindow* of;
    rma::Window* window;
    int rank;
    rma::Mark mark;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
  };

  static int query(void* extra, MPI_Status* status);
  static int release(void* extra);
  static int cancel(void* extra, int complete);
  // Also true if the target has been lost.
  static bool arrived(const Fetch& fetch) { return fetch.window->reached(fetch.rank, fetch.mark); }
  std::vector<Fetch*> find(int count, const MPI_Request* requests);
  // Takes those of the requests, and of the freed ones, that have arrived. Others are left: the
  // program has not asked for them, and their errors are reported when it does. Call under the
  // agent's lock.
  std::vector<Fetch*> take_arrived(int count, const MPI_Request* requests);
  void count_under_way() {
    under_way_.store(by_handle_.size() + let_go_.size() + failed_.size(),
                     std::memory_order_relaxed);
  }
  // Also reports their errors. Must be called without the lock.
  static void complete(const std::vector<Fetch*>& arrived);

  struct Last {
    const rma::Window* window = nullptr;
    int rank = 0;
    rma::Mark mark = 0;
  };

  Station* station_;
  Last last_;  // under the agent's lock
  std::atomic<size_t> under_way_{0};
  std::mutex mutex_;                                // guards the members below
  std::unordered_map<uint64_t, Fetch*> by_handle_;  // in flight; the program may ask for them
  std::vector<Fetch*> let_go_;                      // in flight; freed by the program
  std::unordered_map<uint64_t, int> failed_;  // by handle: errors of those that have not been freed
};

// The failed ones among the requests of a call that frees what it completes. Made before the host
// is called; turns its result into that of the call.
class FailedFetches {
 public:
  FailedFetches(Fetches* fetches, int count, const MPI_Request* requests);

  // Of a call that completes one request.
  int of_one(int rc) const;
  // Of calls with a status for each of the requests, and for the first `*found` of `indices`.
  int of_all(int rc, MPI_Status* statuses) const;
  int of_some(int rc, const int* found, const int* indices, MPI_Status* statuses) const;

 private:
  struct Failed {
    int index;
    uint64_t handle;
    int code;
  };
  // Takes those that the call has freed.
  std::vector<Failed> take_freed() const;

  Fetches& fetches_;
  const int count_;
  const MPI_Request* const requests_;
  std::vector<Failed> failed_;
};

}  // namespace nearcache::mpi
