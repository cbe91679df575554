// Requests of gets and fetching accumulates on windows of the engine while their data is on the
// way: generalized requests of the host. The agent calls no MPI, so the program's calls that look
// at requests complete them (fetches.cpp covers MPI_Wait and the like).
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

  // Has the last one arrived, or was there none? Under the agent's lock.
  bool idle() const {
    return last_.window == nullptr || last_.window->reached(last_.rank, last_.mark);
  }
  // The request of what reaches `mark` at the target. Not under the lock.
  int begin(const EngineWindow& of, rma::Window* window, int rank, rma::Mark mark,
            MPI_Request* request);
  // Is nothing on the way? Then the calls below need not be made.
  bool none() const { return under_way_.load(std::memory_order_relaxed) == 0; }

  // Each returns an error of one of the requests, after its window's error handler was called.

  // Looks at the network, and completes what has arrived.
  int settle(int count, const MPI_Request* requests);
  // Returns when those among the requests have arrived, and completes them.
  int wait(int count, const MPI_Request* requests);
  // The program is about to free it: nobody waits for it, and its error is its target's.
  int let_go(const MPI_Request* request);
  // Of requests of which one is enough: waits a little, or until one of ours has arrived if there
  // are only such.
  int wait_for_one(int count, const MPI_Request* requests);
  // One of them is ours, and on its way.
  bool has(int count, const MPI_Request* requests) { return !find(count, requests).empty(); }
  // Those of a window that is about to go.
  void end(const rma::Window* window);

 private:
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
  // Also once its target is lost.
  static bool arrived(const Fetch& fetch) { return fetch.window->reached(fetch.rank, fetch.mark); }
  std::vector<Fetch*> find(int count, const MPI_Request* requests);
  // Takes those of the requests that have arrived, and of those that were let go: of others the
  // program has not asked, and an error is told to who asks. Under the agent's lock.
  std::vector<Fetch*> take_arrived(int count, const MPI_Request* requests);
  void count_under_way() {
    under_way_.store(by_handle_.size() + let_go_.size(), std::memory_order_relaxed);
  }
  // Tells their errors, too; not under the lock.
  static int complete(const std::vector<Fetch*>& arrived);

  struct Last {
    const rma::Window* window = nullptr;
    int rank = 0;
    rma::Mark mark = 0;
  };

  Station* station_;
  Last last_;  // under the agent's lock
  std::atomic<size_t> under_way_{0};
  std::mutex mutex_;                                // of what follows
  std::unordered_map<uint64_t, Fetch*> by_handle_;  // those under way that may be asked for
  std::vector<Fetch*> let_go_;                      // those that may not
};

}  // namespace nearcache::mpi
