// The lock of a window at its owner: shared and exclusive, for ranks that request it by messages,
// granted in order of request. Ranks that can address the lock's word take it there while nobody
// waits, and wait in its queue (lock_queue.h); so does the owner, for the first of those that have
// asked it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rma/lock_queue.h"

namespace nearcache::rma {

class Locks {
 public:
  Locks(LockWord* word, LockQueue queue) : word_(word), queue_(queue) {}
  // True if granted at once; otherwise the origin waits for its turn, which may have come already:
  // the queue is to be granted.
  bool ask(int origin, LockType type);
  // False if it holds none.
  bool release(int origin);
  // Whose turn has come; it holds its lock from now on, and the queue is to be granted once more.
  std::optional<int> grant_next();
  bool waits(int origin) const;
  // Nobody will have a turn any more: who waits for one, and does not from now on.
  std::vector<int> give_up();
  // It is gone, and with it what it held or waited for.
  void forget(int origin);

 private:
  struct Waiting {
    int origin;
    LockType type;
  };
  void hold(int origin, LockType type);
  void enter_first();

  LockWord* word_;
  LockQueue queue_;
  std::optional<int> exclusive_;  // who holds it, of those who have asked
  // by origin: how often (threads of one that holds a shared lock do not ask again, a peer that is
  // broken might)
  std::unordered_map<int, uint32_t> held_;
  std::deque<Waiting> waiting_;  // the first one is in the queue, or its turn has come
};

}  // namespace nearcache::rma
