// SPDX-License-Identifier: BSD-3-Clause
#include "rma/members.h"

#include <utility>

namespace nearcache::rma {

Members::Members(std::vector<int> peers) : size_(static_cast<int>(peers.size())) {
  bool all_in_order = true;
  for (int rank = 0; rank < size_; ++rank)
    all_in_order = all_in_order && peers[static_cast<size_t>(rank)] == rank;
  if (all_in_order) return;
  peers_ = std::move(peers);
  for (int rank = 0; rank < size_; ++rank) ranks_.emplace(peers_[static_cast<size_t>(rank)], rank);
}

int Members::rank_of(int peer) const {
  if (peers_.empty()) return peer >= 0 && peer < size_ ? peer : -1;
  const auto found = ranks_.find(peer);
  return found == ranks_.end() ? -1 : found->second;
}

}  // namespace nearcache::rma
