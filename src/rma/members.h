// The ranks of a window, and which ranks of the job they are.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace nearcache::rma {

class Members {
 public:
  // All of a job, in their order: keeps nothing.
  explicit Members(int ranks) : size_(ranks) {}
  // By rank of the window.
  explicit Members(std::vector<int> peers);

  int size() const { return size_; }
  int peer(int rank) const { return peers_.empty() ? rank : peers_[static_cast<size_t>(rank)]; }
  // The other way round; -1: it is no member.
  int rank_of(int peer) const;

 private:
  int size_;
  std::vector<int> peers_;
  std::unordered_map<int, int> ranks_;
};

}  // namespace nearcache::rma
