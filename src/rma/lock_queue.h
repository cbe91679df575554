// Who waits for a window's lock at one target: ranks of its node, by words that they share, and the
// owner, for the first of those far ranks that have asked it (locks.h). Granted in the order in
// which they came, by whoever gives the lock back and sees that somebody waits, to near and far
// alike: a far rank's turn comes after those of the near ranks that came before its owner asked for
// it, of which there are as many as the node has ranks at most.
//
// Each who waits has one word, with its ticket. So there is nothing that a rank which dies could
// leave half linked, and who is gone is taken out by storing 0. All changes are made under a mutex,
// which is taken over from the dead; who waits looks at its own word only.
//
//   - The word of the lock says whether anybody waits. Who enters says so first, and then looks
//     whether the lock is free; who gives it back does so first, and then looks whether anybody
//     waits, in one instruction. So one of them sees the other.
//   - Who grants takes the lock in the other's name, says that the other holds it, and then takes
//     away its ticket: it is not granted twice, and can be given back if the other has ended.
//     tests/protocol/lock.pml has it all.
//   - Who ends while it changes the word, for itself (Held::unsure) or another (`granting`), leaves
//     it unknown who has the lock: it is lost, and who waits for it, or comes, is told so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/commons.h"

namespace nearcache::rma {

class LockQueue {
 public:
  // `ranks`: of the node. `process`: the caller's.
  LockQueue(Commons* commons, size_t ranks, uint32_t process)
      : commons_(commons), ranks_(ranks), process_(process) {}

  // Who waits is named by its place on the node, or is this: the owner, for a far rank.
  size_t owner() const { return ranks_; }

  // It waits from now on, and did not before. Then `grant`, as the lock may be free.
  void enter(size_t who, LockType type);
  // False once it has been granted.
  bool waits(size_t who) const {
    return ticket(who).load(std::memory_order_acquire) != Commons::no_ticket;
  }
  // It waits no more. False if it does not: it never did, or the lock is its own.
  bool leave(size_t who);
  // Gives the lock to those whose turn it is, and calls with each, who must be told.
  template <class Granted>
  void grant(Granted granted) {
    for (size_t who; (who = grant_next()) != nobody;) granted(who);
  }

 private:
  static constexpr size_t nobody = SIZE_MAX;

  std::atomic<uint32_t>& ticket(size_t who) const {
    return who == ranks_ ? commons_->far_ticket : commons_->of_ranks()[who].ticket;
  }
  size_t first() const;
  size_t grant_next();

  Commons* commons_;
  size_t ranks_;
  uint32_t process_;
};

}  // namespace nearcache::rma
