// SPDX-License-Identifier: BSD-3-Clause

// Operations that wait for a reply, by the token that the reply brings back. A token is valid once:
// an invented or repeated one matches nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/status.h"

namespace nearcache::rma {

class Window;

// Called once, when an operation is complete.
struct Completion {
  void (*call)(void* context, Status status) = nullptr;
  void* context = nullptr;
};

struct Pending {
  // What ends the operation. location: a reply with a key. transfer: not a message, but a report of
  // the network.
  enum class By : uint8_t { reply, location, transfer };

  Window* window = nullptr;  // null: given up
  int target = 0;            // rank in the window
  int peer = 0;              // rank in the job
  // the message that is answered: with the reply, all messages to the target up to it are executed
  uint64_t sequence = 0;
  uint64_t before = 0;      // the last message to the target, before this one, that is answered
  uint64_t bytes = 0;       // issued to the target by then
  std::byte* to = nullptr;  // where fetched data goes; else null
  uint64_t length = 0;
  Completion completion{};
  By by = By::reply;
};

class PendingTable {
 public:
  uint64_t add(const Pending& pending);
  // Returns null if no operation with this token waits for `peer`.
  const Pending* find(uint64_t token, int peer) const;
  // Removes the operation. Returns false if none with this token waits for `peer`.
  bool take(uint64_t token, int peer, Pending* pending);
  // Takes out the next one that waits for this peer, from a place in the table on, which is 0 at
  // first. False if there is none.
  bool take_next(int peer, size_t* from, Pending* pending);
  // The same of this window, which gives it up: the reply is still to come, and means nothing.
  bool give_up_next(const Window* window, size_t* from, Pending* pending);

 private:
  struct Slot {
    Pending pending;
    uint32_t generation = 1;
    bool used = false;
  };
  void take_slot(size_t number, Pending* pending);

  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace nearcache::rma
