// Operations whose replies are awaited, by the token that the reply brings back. A token is valid
// once: one that is made up, or comes again, names nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/status.h"

namespace nearcache::rma {

class Window;

// Called once when an operation is complete.
struct Completion {
  void (*call)(void* context, Status status) = nullptr;
  void* context = nullptr;
};

struct Pending {
  // location: a reply with a key. transfer: not a message, but what the network says.
  enum class By : uint8_t { reply, location, transfer };

  Window* window = nullptr;  // null: it is closed
  int target = 0;            // rank of the window
  int peer = 0;              // of the job
  // of the messages to the target: when the reply is here, all up to this one are executed
  uint64_t sequence = 0;
  uint64_t bytes = 0;       // that had been issued by then
  std::byte* to = nullptr;  // of an operation that fetches
  uint64_t length = 0;
  Completion completion{};
  By by = By::reply;
};

class PendingTable {
 public:
  uint64_t add(const Pending& pending);
  // Null if there is none of this token that waits for `peer`.
  const Pending* find(uint64_t token, int peer) const;
  // Takes it out. False if there is none of this token that waits for `peer`.
  bool take(uint64_t token, int peer, Pending* pending);
  // Takes out the next one that waits for this peer, from a place in the table on, which is 0 at
  // first. False if there is none.
  bool take_next(int peer, size_t* from, Pending* pending);
  // The same of this window, which is closed: the reply is still to come, and means nothing.
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
