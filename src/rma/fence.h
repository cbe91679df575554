// The fence of a window: a dissemination barrier, in whose tokens every rank learns how many
// operations were sent to it.
//
// In round k of ceil(log2 p) a rank sends one token to the rank 2^k further on, and waits for that
// of the rank 2^k before it (Hensgen, Finkel, Manber, 1988). A count that is meant for the rank at
// distance d travels in the rounds that are bits of d, so it arrives exactly once and is added to
// others on the way (the routing of Bruck's all-to-all, 1997). Nobody acknowledges anything: a rank
// leaves when it has met all, and has executed as many operations as were sent to it before this
// fence. Those who have left already may send more: as nobody is more than one fence ahead, it is
// enough that each operation says whether it came after an even or an odd number of fences, and
// that both kinds are counted apart. What comes too early waits (Window::take).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "rma/wire.h"

namespace nearcache::rma {

class Fence {
 public:
  // To a rank of the window.
  using Send =
      std::function<void(int to, uint64_t fence, int round, std::span<const Piece> counts)>;

  Fence(int rank, int ranks, Send send);

  // This rank has come, and has sent so many operations to each since its last fence.
  void enter(std::span<const Piece> counts);
  // `from` sent a token. False for one that no rank sends that follows the protocol.
  bool arrived(int from, uint64_t fence, int64_t round, std::span<const Piece> counts);

  bool met() const { return round_ == rounds_; }  // all have entered
  uint64_t entered() const { return fence_; }
  bool odd() const { return (fence_ & 1) != 0; }  // so many have been entered
  // Once met: how many operations of the kind that comes before the last fence were sent to this
  // rank, since the beginning.
  uint64_t expected() const { return expected_[!odd()]; }

 private:
  int distance_to(int rank) const { return rank >= rank_ ? rank - rank_ : rank - rank_ + ranks_; }
  void add(std::span<const Piece> counts);
  void send_round();
  void advance();

  int rank_, ranks_, rounds_ = 0;
  Send send_;
  uint64_t fence_ = 0;  // that was entered last
  int round_ = 0;       // whose token is awaited
  uint64_t expected_[2] = {};
  std::map<int, uint64_t> counts_;                                // on their way, by distance
  std::map<std::pair<uint64_t, int>, std::vector<Piece>> early_;  // tokens of others that are ahead
};

}  // namespace nearcache::rma
