// A window at the rank whose memory it is: executes what others ask for, keeps its lock, and
// counts.
//
// Requests of one origin are executed in the order in which they were sent, those that wait for a
// lock included, so that a reply tells of all before it. Nobody else executes anything on this
// memory: accumulates are atomic, and in order, because there is one hand that does them.
#pragma once

#include <unordered_map>

#include "rma/layouts.h"
#include "rma/locks.h"
#include "rma/memory.h"
#include "rma/outbox.h"
#include "rma/wire.h"

namespace nearcache::rma {

class Exposure {
 public:
  // The largest run that one request may ask for; a batch holds it.
  static constexpr uint64_t most_bytes = 256 << 10;

  Exposure(Memory memory, int ranks, Outbox* outbox)
      : memory_(std::move(memory)), outbox_(outbox), layouts_(layout_share(ranks)) {}

  // A request. False if its origin has sent more than it may while it waits for a lock.
  bool take(int from, const Message& message);
  void forget(int peer);
  // The owner's own lock, without messages: false if it is not free, or waited for.
  bool lock_here(int owner, LockType type) { return locks_.try_ask(owner, type); }
  void unlock_here(int owner);

  Memory& memory() { return memory_; }
  // operations, since the beginning
  uint64_t executed(bool odd_epoch) const { return executed_[odd_epoch]; }
  // epochs of origins that were completed and not yet waited for
  uint64_t completed() const { return completed_; }
  void waited_for(uint64_t origins) { completed_ -= origins; }

 private:
  void run(int from, const Message& message);
  void operate(int from, const Message& message);
  Status check(int from, const Message& message) const;
  template <class Function>
  bool each_run(int from, const Message& message, Function function) const;
  void unlock(int from, const Head& request);
  void grant();

  Memory memory_;
  Outbox* outbox_;
  Locks locks_;
  ToldLayouts layouts_;
  // what came behind a lock that was not granted yet
  std::unordered_map<int, BatchWriter> deferred_;
  bool granting_ = false;
  uint64_t executed_[2] = {}, completed_ = 0;
};

// The answer to an operation that cannot be executed, where there is one.
void refuse(Outbox* outbox, int to, const Head& request, Status status);

}  // namespace nearcache::rma
