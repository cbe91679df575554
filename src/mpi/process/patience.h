// Nearcache's own collective calls, which must not hang if a rank does not take part.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// How long ranks that leave a collective call of the program's together may be apart when they come
// to ours. Many ranks on few cores take turns.
uint64_t patience_ns(int ranks);

inline constexpr uint64_t no_limit = UINT64_MAX;

// A non-blocking collective call under way, with the memory that it works on. If it is given up,
// MPI may still write there: what is left of it is kept for the life of the process.
class Exchange {
 public:
  // `words` of 8 bytes, sent and received, set to 0.
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

  // Begins to gather what each rank sends, at all of `comm`. False: MPI refuses.
  bool gather_to_all(MPI_Comm comm);

  // Waits for so long at most. True when it is complete.
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
