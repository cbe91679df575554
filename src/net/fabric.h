// What moves batches of bytes between the ranks of a job. It knows no MPI, and nothing of what is
// in a batch.
//
// Batches from one rank to another arrive whole, once and in the order in which they were sent;
// between different pairs there is no order. A fabric has no lock: its user calls it from one
// thread at a time (but for wait_descriptor and ring).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/direct_memory.h"

namespace nearcache::net {

// Where bytes of a batch go.
struct Place {
  std::byte* memory = nullptr;  // may not be there; null: nobody wants them any more
  size_t bytes = 0;
};

// Who is handed what a fabric has received. May send from within these calls.
class Receiver {
 public:
  virtual void received(int from, std::span<const std::byte> batch) = 0;

  // Many bytes may go where the receiver wants them while they arrive, without another copy: the
  // body of a batch, which follows its head, the first `head_bytes`. A fabric need not know that.

  static constexpr size_t head_bytes = 48;
  // Where the body of a batch of so many bytes goes, of which the head has come; no bytes: the
  // batch is to be handed over as a whole. Asked again before more is written there: only the
  // memory may be another then.
  virtual Place body(int /*from*/, std::span<const std::byte> /*head*/, size_t /*batch*/) {
    return {};
  }
  // The body of the batch that is likely to come next, if it has one: what is written there may be
  // of another.
  virtual Place expected_body(int /*from*/) { return {}; }
  // The batch is here, its body in its place; unless the memory was not there, or not wanted, all
  // the time. `end` is what follows the body.
  virtual void received_apart(int /*from*/, std::span<const std::byte> /*head*/,
                              std::span<const std::byte> /*end*/, bool /*in_place*/) {}

  // No more comes from this rank, and nothing reaches it: it ended, or broke the protocol. Said
  // once for a rank.
  virtual void lost(int peer, const std::string& why) = 0;
  // What was begun with this token is done (direct_memory.h): `data` is what was read.
  virtual void transferred([[maybe_unused]] int peer, [[maybe_unused]] uint64_t token,
                           [[maybe_unused]] std::span<const std::byte> data) {}

 protected:
  ~Receiver() = default;
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual size_t largest_batch() const = 0;  // bytes
  // Null: it moves nothing but batches.
  virtual DirectMemory* direct_memory() { return nullptr; }

  // Takes a batch, of which the end may be elsewhere. All of it may be overwritten at once. Never
  // waits: what the network does not take now goes with later polls. To another rank. Nothing that
  // was sent to a rank that is lost arrives.
  void send(int to, std::span<const std::byte> batch, std::span<const std::byte> end = {}) {
    send_both(to, batch, end);
  }
  // Whether there is the next call, to this rank.
  virtual bool sends_unsure(int /*to*/) const { return false; }
  // Takes a batch of which a part, the data, may not be there: what is missing goes as zeros.
  // Behind the data goes one word, which says whether they were all there.
  struct Ending {
    uint64_t all_there, missing;
  };
  virtual void send_unsure(int /*to*/, std::span<const std::byte> /*batch*/,
                           std::span<const std::byte> /*data*/, Ending /*ending*/) {}

  // Moves what can be moved without waiting. True if anything was received or lost.
  virtual bool poll(Receiver& receiver) = 0;

  // Before somebody sleeps on the descriptor. False: poll once more, and ask again. True: from now
  // on, until the next poll and whatever is sent before it, the descriptor is readable as long as
  // poll would find something to do.
  virtual bool arm() { return true; }
  // The same of who is likely to poll again at once: others may wait for a moment before the
  // descriptor becomes readable.
  virtual bool arm_briefly() { return arm(); }
  // Somebody polls from now on.
  virtual void disarm() {}
  // From then on, or a poll, to the next `arm` only `ring` makes the descriptor readable.
  virtual bool rests_unless_armed() const { return false; }
  // Level-triggered: whoever looks too late still sees what came meanwhile. -1 of fabrics that
  // nobody can sleep on. Any thread.
  virtual int wait_descriptor() const = 0;
  // Makes the descriptor readable until the next poll. Any thread.
  virtual void ring() = 0;

  // This rank has ended, or broken the protocol, as others know: nothing goes to it, or comes from
  // it, any more. If it lives it loses this one, too.
  virtual void forget(int /*peer*/) {}

 private:
  virtual void send_both(int to, std::span<const std::byte> batch,
                         std::span<const std::byte> end) = 0;
};

}  // namespace nearcache::net
