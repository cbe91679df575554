// SPDX-License-Identifier: BSD-3-Clause

// The fence of a window: a dissemination barrier, whose tokens also tell every rank how many
// operations were sent to it.
//
// In round k of ceil(log2 p) a rank sends one token to the rank 2^k after it, and waits for one
// from the rank 2^k before it (Hensgen, Finkel, Manber, 1988). A count for the rank at distance d
// travels in the rounds whose bits are set in d, so it arrives exactly once, and is added to others
// on the way (the routing of Bruck's all-to-all, 1997). Nothing is acknowledged: a rank leaves when
// all tokens have arrived and it has executed as many operations as were sent to it before this
// fence. Ranks that have left already may send more. As no rank is more than one fence ahead, it is
// enough that each operation says whether its origin had entered an even or an odd number of
// fences, and that the two kinds are counted separately. What comes too early waits (Window::take).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "rma/wire.h"

namespace nearcache::rma {

class Fence {
 public:
  // Sends a token to a rank of the window.
  using Send =
      std::function<void(int to, uint64_t fence, int round, std::span<const Piece> counts)>;

  Fence(int rank, int ranks);

  // This rank enters a fence. `counts`: how many operations it has sent to each rank since its last
  // one.
  void enter(std::span<const Piece> counts, const Send& send);
  // A token has arrived from `from`. Returns false if no rank that follows the protocol would send
  // it.
  bool arrived(int from, uint64_t fence, int64_t round, std::span<const Piece> counts,
               const Send& send);

  // Calls visit(rank) with each rank whose token is awaited in a fence.
  template <class Visit>
  void each_awaited(Visit visit) const {
    for (int round = 0; round < rounds_; ++round)
      visit(static_cast<int>((rank_ + ranks_ - (int64_t{1} << round)) % ranks_));
  }

  // Likewise with each rank to which this one sends its tokens.
  template <class Visit>
  void each_next(Visit visit) const {
    for (int round = 0; round < rounds_; ++round)
      visit(static_cast<int>((rank_ + (int64_t{1} << round)) % ranks_));
  }

  bool met() const { return round_ == rounds_; }  // all have entered
  uint64_t entered() const { return fence_; }
  bool odd() const { return (fence_ & 1) != 0; }  // the number of fences entered is odd
  // Valid once met(): how many operations of the parity that precedes the last fence were sent to
  // this rank, since the beginning.
  uint64_t expected() const { return expected_[!odd()]; }

 private:
  int distance_to(int rank) const { return rank >= rank_ ? rank - rank_ : rank - rank_ + ranks_; }
  void add(std::span<const Piece> counts);
  void send_round(const Send& send);
  void advance(const Send& send);

  struct Underway {
    std::map<int, uint64_t> counts;                                // to be passed on, by distance
    std::map<std::pair<uint64_t, int>, std::vector<Piece>> early;  // tokens of ranks that are ahead
  };
  Underway& underway() {
    if (underway_ == nullptr) underway_ = std::make_unique<Underway>();
    return *underway_;
  }

  int rank_, ranks_;
  int rounds_ = 0;
  int round_ = 0;       // whose token is awaited
  uint64_t fence_ = 0;  // the last one entered
  uint64_t expected_[2] = {};
  std::unique_ptr<Underway> underway_;  // once there is any
};

}  // namespace nearcache::rma
