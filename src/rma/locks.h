// SPDX-License-Identifier: BSD-3-Clause

// The lock of a window at its owner, shared and exclusive, for ranks that request it by messages;
// it is granted in order of request. Ranks that can address the lock's word take it there while
// nobody waits, and otherwise wait in its queue (lock_queue.h). So does the owner, on behalf of the
// first of the ranks that have sent it a request.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rma/lock_queue.h"

namespace nearcache::rma {

class Locks {
 public:
  Locks(LockWord* word, LockQueue queue) : word_(word), queue_(queue) {}
  // Returns true if the lock is granted at once. Otherwise the origin waits for its turn, which may
  // have come already: the caller must call LockQueue::grant.
  // `overtakes` as in LockQueue::enter.
  bool ask(int origin, LockType type, bool overtakes = false);
  // Returns false if the origin holds no lock.
  bool release(int origin);
  // Returns the origin whose turn has come, and which holds its lock from now on. The caller must
  // then call LockQueue::grant once more.
  std::optional<int> grant_next();
  bool waits(int origin) const;
  // The lock is lost: removes all waiting origins and returns them.
  std::vector<int> give_up();
  // The origin is gone: releases what it held, and removes what it waited for.
  void forget(int origin);

 private:
  struct Waiting {
    int origin;
    LockType type;
    bool overtakes;
  };
  void hold(int origin, LockType type);
  void enter_first();

  LockWord* word_;
  LockQueue queue_;
  std::optional<int> exclusive_;  // of the origins that sent a request
  // by origin: how often (threads of an origin that holds a shared lock do not request it again,
  // but a faulty peer might)
  std::unordered_map<int, uint32_t> held_;
  // The first one is in the queue, or its turn has come. Behind that, those that overtake come
  // first.
  std::vector<Waiting> waiting_;
};

}  // namespace nearcache::rma
