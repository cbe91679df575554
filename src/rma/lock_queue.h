// SPDX-License-Identifier: BSD-3-Clause

// The queue for a window's lock at one target. Ranks of the target's node wait in it through shared
// words. So does the owner, on behalf of the first of the far ranks that have requested the lock
// (locks.h). The lock is granted in order of arrival, to near and far ranks alike, by a rank that
// releases it and sees that somebody waits. A far rank's turn comes after those of the near ranks
// that came before its owner entered the queue; these are at most as many as the node has ranks.
//
// The shared lock of a rank that has another lock of the window overtakes those who wait for shared
// locks to be released. Two such ranks that waited in turn, each behind an exclusive request that
// waits for the other, would wait forever. They are usual where epochs lock all ranks. All others
// wait in turn, so that epochs that follow each other do not keep a writer out; but nobody requests
// a second lock before it has the first (EngineWindow).
//
// Each waiting rank has one word, which holds its ticket. So a rank that dies leaves nothing half
// linked, and is removed by storing 0. All changes are made under a mutex, which is taken over from
// a dead process; a waiting rank looks only at its own word.
//
//   - The lock's word says whether anybody waits. A rank that enters the queue first says so, then
//     checks whether the lock is free. A rank that releases the lock does so and checks whether
//     anybody waits in one instruction. So one of them sees the other.
//   - A rank that grants the lock takes it in the other's name, records that the other holds it,
//     and then removes the other's ticket. So the lock is not granted twice, and can be released if
//     the other has died. tests/protocol/lock.pml models all of this; overtaking.pml, overtaking.
//   - If a rank dies while it changes the word, for itself (Held::unsure) or for another
//     (`granting`), nobody knows who has the lock. It is lost: ranks that wait for it, or request
//     it later, get an error.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/commons.h"

namespace nearcache::rma {

class LockQueue {
 public:
  // `ranks`: of the node. `process`: the caller's pid.
  LockQueue(Commons* commons, size_t ranks, uint32_t process)
      : commons_(commons), ranks_(ranks), process_(process) {}

  // A waiting rank is identified by its place on the node; this number is the owner, on behalf of a
  // far rank.
  size_t owner() const { return ranks_; }

  // Adds `who`, which must not be in the queue. grant() must follow, as the lock may be free.
  // `overtakes`: a shared lock of a rank that has another lock.
  void enter(size_t who, LockType type, bool overtakes = false);
  // Returns false once the lock has been granted to `who`.
  bool waits(size_t who) const {
    return ticket(who).load(std::memory_order_acquire) != Commons::no_ticket;
  }
  // Removes `who`. Returns false if it is not in the queue: it never was, or it has the lock.
  bool leave(size_t who);
  // Gives the lock to those whose turn it is. Calls granted(who) for each, which must be told.
  template <class Granted>
  void grant(Granted granted) {
    for (size_t who; (who = grant_next()) != nobody;) granted(who);
  }

 private:
  static constexpr size_t nobody = SIZE_MAX;

  std::atomic<uint32_t>& ticket(size_t who) const {
    return who == ranks_ ? commons_->far_ticket : commons_->of_ranks()[who].ticket;
  }
  size_t first(bool overtaking = false) const;
  size_t grant_next();

  Commons* commons_;
  size_t ranks_;
  uint32_t process_;
};

}  // namespace nearcache::rma
