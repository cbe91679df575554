// SPDX-License-Identifier: BSD-3-Clause

// The ranks of a window, and their ranks in the job.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace nearcache::rma {

class Members {
 public:
  // All ranks of the job, in order: stores nothing.
  explicit Members(int ranks) : size_(ranks) {}
  // `peers`: ranks in the job, by rank of the window.
  explicit Members(std::vector<int> peers);

  int size() const { return size_; }
  int peer(int rank) const { return peers_.empty() ? rank : peers_[static_cast<size_t>(rank)]; }
  // The inverse of peer(); -1 if this peer is not a member.
  int rank_of(int peer) const;

 private:
  int size_;
  std::vector<int> peers_;
  std::unordered_map<int, int> ranks_;
};

}  // namespace nearcache::rma
