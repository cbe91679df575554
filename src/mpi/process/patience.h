// SPDX-License-Identifier: BSD-3-Clause

// Nearcache's own collective calls, which must not hang if some rank does not take part.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// How far apart in time, in nanoseconds, ranks that leave one of the program's collective calls
// together may enter ours. Many ranks on few cores take turns.
uint64_t patience_ns(int ranks);

inline constexpr uint64_t no_limit = UINT64_MAX;

// A non-blocking collective call in flight, with its buffers. If the call is abandoned, MPI may
// still write to the buffers, so they are kept for the life of the process.
class Exchange {
 public:
  // `sent` and `received` are numbers of 8-byte words; the words start as 0.
  Exchange(size_t sent, size_t received)
      : data_(new Data{std::vector<uint64_t>(sent), std::vector<uint64_t>(received),
                       MPI_REQUEST_NULL}) {}
  ~Exchange();
  Exchange(Exchange&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Exchange& operator=(Exchange&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  std::vector<uint64_t>& sent() { return data_->sent; }
  std::vector<uint64_t>& received() { return data_->received; }
  MPI_Request* request() { return &data_->request; }

  // Starts an allgather of the sent words over `comm`. Returns false if MPI refuses.
  bool gather_to_all(MPI_Comm comm);

  // Waits for at most `most_ns` nanoseconds. Returns true if the call is complete.
  bool wait(uint64_t most_ns);
  bool complete() { return wait(0); }

 private:
  struct Data {
    std::vector<uint64_t> sent, received;
    MPI_Request request;
  };
  Data* data_;
};

}  // namespace nearcache::mpi
