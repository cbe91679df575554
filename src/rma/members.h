// SPDX-License-Identifier: BSD-3-Clause

// The ranks of a window, and their ranks in the job. If these are evenly spaced, as in rows,
// columns and blocks of ranks, nothing is stored for each; else 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearcache::rma {

class Members {
 public:
  // All ranks of the job, in order.
  explicit Members(int ranks) : size_(ranks) {}
  // `peers`: ranks in the job, by rank of the window.
  explicit Members(const std::vector<int>& peers);

  int size() const { return size_; }
  int peer(int rank) const {
    return uneven_ == nullptr ? first_ + rank * step_ : uneven_->peers[static_cast<size_t>(rank)];
  }
  // The inverse of peer(); -1 if this peer is not a member.
  int rank_of(int peer) const;

 private:
  struct Uneven {
    std::vector<int> peers;    // by rank
    std::vector<int> by_peer;  // all ranks, in ascending order of their peers
  };

  int size_;
  int first_ = 0, step_ = 1;
  std::unique_ptr<Uneven> uneven_;
};

}  // namespace nearcache::rma
