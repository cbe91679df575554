// SPDX-License-Identifier: BSD-3-Clause

// A window at the rank that owns the memory: executes the requests of others, manages the lock, and
// counts.
//
// Requests of one origin are executed in the order in which they were sent, including those that
// wait for a lock, so that a reply covers everything before it. Ranks that can reach the memory
// execute their operations themselves (commons.h).
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rma/checked_copies.h"
#include "rma/commons.h"
#include "rma/held_messages.h"
#include "rma/layouts.h"
#include "rma/locks.h"
#include "rma/memory.h"
#include "rma/outbox.h"
#include "rma/wire.h"

namespace nearcache::rma {

struct Action;
class Window;

class Exposure {
 public:
  // The most bytes that one request may concern, if they are one run to be put or got; otherwise
  // the most is Detour::bytes. A batch has room for them.
  static constexpr uint64_t most_bytes = 1000 << 10;

  // Of this window, which it is part of.
  Exposure(Window* window, Memory memory) : window_(window), memory_(std::move(memory)) {}
  ~Exposure();

  // Takes a request. Returns false if its origin has sent more than it may while it waits for a
  // lock. Execution may be postponed until settle(), which must be called while the message is
  // still there.
  bool take(int from, const Message& message);
  void settle();
  // For a put of one run whose data is received in place (Window::place_of_put).
  std::byte* place_of_put(int from, const Head& head) const;
  void put_apart(int from, const Head& head, bool in_place);
  void forget(int peer);
  // Called when the window closes: answers what still waits for a lock, or for the end of a fence
  // that a member's death has left open.
  void refuse(int from, const HeldMessages& messages);
  void refuse_held();
  // Gives the lock, if it is free, to those whose turn it is.
  void grant();

  Memory& memory() { return memory_; }
  // operations with this parity, since the beginning
  uint64_t executed(bool odd_epoch) const { return executed_[odd_epoch]; }
  // epochs completed by origins and not waited for yet
  uint64_t completed() const { return completed_; }
  void waited_for(uint64_t origins) { completed_ -= origins; }

 private:
  void run(int from, const Message& message);
  void operate(int from, const Message& message);
  void put_each(int from, const Message& message);
  template <class EachRun>
  Status execute_checked(const Action& action, uint64_t length, EachRun runs);
  CheckedCopies& copies() const;
  void copy();
  void copy_held();
  bool send_alone();
  bool send_unsure(int to, const Head& request, const std::byte* data);
  static Head answer(const Head& request);
  std::byte* reply(int to, const Head& request);  // returns where the data goes
  void send_data(int to, const Head& request, const std::byte* data);
  Status check(int from, const Message& message) const;
  template <class Function>
  bool each_run(int from, const Message& message, Function function) const;
  void unlock(int from, const Head& request);
  void refuse_lock();
  void locate(int from, const Head& request);
  void take_deferred(int origin);

  // What only some windows need.
  struct Rare {
    std::unique_ptr<net::DirectMemory::Exposed> exposed;
    bool tried_to_expose = false;
    ToldLayouts layouts;
    // requests behind a lock that is not granted yet
    std::unordered_map<int, HeldMessages> deferred;
    // origins that believe they have the lock, which is lost
    std::unordered_set<int> without_lock;
  };
  Rare& rare();
  Locks& locks();
  Outbox& outbox() const;
  Commons& commons() const;
  bool waits(int origin) const { return locks_ != nullptr && locks_->waits(origin); }
  bool without_lock(int origin) const {
    return rare_ != nullptr && rare_->without_lock.contains(origin);
  }

  Window* window_;
  [[no_unique_address]] Memory memory_;
  bool granting_ = false;         // in the padding of the former
  std::unique_ptr<Locks> locks_;  // once the lock is requested by a message
  std::unique_ptr<Rare> rare_;
  uint64_t executed_[2] = {}, completed_ = 0;
};

// Answers a request that cannot be executed.
void refuse(Outbox* outbox, int to, const Head& request, Status status);

}  // namespace nearcache::rma
