// What the generated wrappers tell the cache: acquires, and the fate of requests. Implemented in requests.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// The program may have learned that another rank's access is complete: in mode `transparent` nothing that was
// read before may be served after.
void note_acquire() noexcept;

// Before and after a collective call, or a receive: others may learn by it that this rank has written its own memory.
// The look after it says that what is found later was not written before.
void note_own_writes() noexcept;

// Whether any request of this process is tracked: a get, put or accumulate with a request on a cached window.
bool requests_tracked() noexcept;

// Looks at `count` requests before a call that may complete them; then tells what became of the tracked ones.
class RequestWatch {
 public:
  RequestWatch(int count, const MPI_Request* before);

  // After the call: tracked requests that are MPI_REQUEST_NULL now are complete.
  void completed(const MPI_Request* after);

  // Request `index` is complete.
  void completed_one(int index);

  // The program let go of them (MPI_Request_free): they complete with their epoch.
  void released();

 private:
  struct Found {
    int index;
    uint64_t key;     // the handle, as it was
    uint64_t ticket;  // tells the request from a later one that MPI gives the same handle
  };
  std::vector<Found> found_;  // the tracked ones among the requests, as they were before the call
};

}  // namespace nearcache::mpi
