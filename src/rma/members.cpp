// SPDX-License-Identifier: BSD-3-Clause
#include "rma/members.h"

#include <algorithm>
#include <numeric>

namespace nearcache::rma {

Members::Members(const std::vector<int>& peers) : size_(static_cast<int>(peers.size())) {
  if (size_ > 0) first_ = peers[0];
  if (size_ > 1) step_ = peers[1] - peers[0];
  const auto is_even = [&] {
    for (size_t rank = 0; rank + 1 < peers.size(); ++rank) {
      if (peers[rank + 1] - peers[rank] != step_) return false;
    }
    return step_ != 0;
  };
  if (is_even()) return;
  uneven_ = std::make_unique<Uneven>();
  uneven_->peers = peers;
  uneven_->by_peer.resize(peers.size());
  std::iota(uneven_->by_peer.begin(), uneven_->by_peer.end(), 0);
  std::ranges::sort(uneven_->by_peer, {}, [&](int rank) { return this->peer(rank); });
}

int Members::rank_of(int peer) const {
  if (uneven_ == nullptr) {
    const int64_t distance = int64_t{peer} - first_;
    const int64_t rank = step_ == 1 ? distance : distance / step_;
    return rank * step_ == distance && rank >= 0 && rank < size_ ? static_cast<int>(rank) : -1;
  }
  const auto found = std::ranges::lower_bound(uneven_->by_peer, peer, {},
                                              [&](int rank) { return this->peer(rank); });
  return found != uneven_->by_peer.end() && this->peer(*found) == peer ? *found : -1;
}

}  // namespace nearcache::rma
