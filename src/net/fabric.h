// SPDX-License-Identifier: BSD-3-Clause

// Moves batches of bytes between the ranks of a job. A fabric knows nothing of MPI or of what is in
// a batch.
//
// Batches from one rank to another arrive whole, exactly once and in the order in which they were
// sent; there is no order between different pairs of ranks. A fabric has no lock: its user calls it
// from one thread at a time, except for wait_descriptor() and ring().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/descriptor_tables.h"
#include "net/direct_memory.h"

namespace nearcache::net {

// Destination of a part of a batch.
struct Place {
  std::byte* memory = nullptr;  // may be unmapped; null: the bytes are no longer wanted
  size_t bytes = 0;
};

// Receives what a fabric delivers. It may send from within these calls.
class Receiver {
 public:
  virtual void received(int from, std::span<const std::byte> batch) = 0;

  // A batch consists of a head (its first head_bytes) and possibly a body, which may be large. A
  // fabric may write the body to where the receiver wants it as it arrives, which saves a copy.
  // This is optional: a fabric may also deliver every batch as a whole.

  static constexpr size_t head_bytes = 48;
  // Called when the head of a batch of `batch` bytes has arrived: returns the destination of its
  // body. A place of 0 bytes means that the batch is to be delivered as a whole. Called again
  // before more of the body is written; only `memory` may differ from the first answer.
  virtual Place body(int /*from*/, std::span<const std::byte> /*head*/, size_t /*batch*/) {
    return {};
  }
  // The destination of the body that is likely to arrive next, if any. The fabric may write bytes
  // of another batch there.
  virtual Place expected_body(int /*from*/) { return {}; }
  // A batch has arrived apart from its body. `in_place`: all of the body is at its destination;
  // false if that memory was missing, or not wanted, at any time. `end` is what follows the body.
  virtual void received_apart(int /*from*/, std::span<const std::byte> /*head*/,
                              std::span<const std::byte> /*end*/, bool /*in_place*/) {}

  // Nothing more arrives from this rank, and nothing reaches it: it has ended, or has broken the
  // protocol. Called once for each such rank.
  virtual void lost(int peer, const std::string& why) = 0;
  // The transfer begun with this token is complete (direct_memory.h). `data` is what a read has
  // read.
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
  // How much data of one operation a batch to this rank should carry at most, in bytes. Much, if it
  // is received in place: each batch costs both ends a few system calls and ends in a packet that
  // is not full.
  virtual size_t most_data(int /*to*/) const { return size_t{64} << 10; }
  // Null if the fabric moves nothing but batches.
  virtual DirectMemory* direct_memory() { return nullptr; }

  // Sends a batch to another rank; `end` is its last part, if that lies elsewhere. Both may be
  // overwritten at once. Never waits: what the network does not take now is sent by later polls.
  // Nothing sent to a lost rank arrives.
  void send(int to, std::span<const std::byte> batch, std::span<const std::byte> end = {}) {
    send_both(to, batch, end);
  }
  // Whether send_unsure() may be called for this rank.
  virtual bool sends_unsure(int /*to*/) const { return false; }
  // Sends a batch that contains memory which may be unmapped (`data`); missing bytes are sent as
  // zeros. The word after the data tells whether all of it was there.
  struct Ending {
    uint64_t all_there, missing;
  };
  virtual void send_unsure(int /*to*/, std::span<const std::byte> /*batch*/,
                           std::span<const std::byte> /*data*/, Ending /*ending*/) {}

  // Moves what can be moved without waiting. Returns true if anything was received or lost.
  virtual bool poll(Receiver& receiver) = 0;
  // Whether that poll has received bytes, perhaps of a batch that is not complete yet: more are
  // likely to come at once.
  virtual bool receives() const { return false; }

  // Called before a thread sleeps on the descriptor. If it returns false, the caller must poll once
  // more and call it again. Once it has returned true, until the next poll, the descriptor is
  // readable whenever poll() would find something to do, whatever is sent in the meantime.
  virtual bool arm() { return true; }
  // Like arm(), for a caller that is likely to poll again very soon: senders may wait for a moment
  // before the descriptor becomes readable.
  virtual bool arm_briefly() { return arm(); }
  // Called when a thread begins to poll.
  virtual void disarm() {}
  // Returns true if, from disarm() or poll() until the next arm(), only ring() makes the descriptor
  // readable.
  virtual bool rests_unless_armed() const { return false; }
  // Level-triggered: a thread that looks late still sees what has arrived in the meantime. -1 if
  // the fabric has nothing to sleep on. Any thread.
  virtual int wait_descriptor() const = 0;
  // Makes the descriptor readable until the next poll. Any thread.
  virtual void ring() = 0;

  // If a thread sleeps in an epoll set that contains the wait descriptor, itself an epoll set, each
  // arrival passes through both, and Linux does not wake the thread on the core that processes the
  // arrival. So one connection, the one in use, may be separate: the fabric registers it in the
  // caller's set (with its descriptor as data), and the wait descriptor tells only of the others. A
  // thread that sleeps must then watch both.

  // The caller's epoll set; -1: no longer. By default no connection is ever separate.
  virtual void use_set(int /*epoll*/) {}
  // Called when the caller's set is to tell of the separate connection, or no longer. Returns true
  // if there is one. Another one becomes separate only in a call with `wanted`.
  virtual bool watch_separate(bool /*wanted*/) { return false; }
  // Others are in use as well: no connection is separate any more.
  virtual void watch_together() {}
  // -1: no connection is separate.
  virtual int separate_descriptor() const { return -1; }
  // A thread was woken by this descriptor: the next poll should look at what it stands for.
  virtual void woken(int /*descriptor*/) {}

  // From now on, calls come from two threads with different tables, or (null) no longer. Returns
  // false if the fabric cannot do that, else adds the descriptors to `kept` that both tables need.
  virtual bool use_tables(DescriptorTables* /*tables*/, std::vector<int>* /*kept*/) {
    return false;
  }
  // This side of the tables settles what the other one has opened and closed.
  virtual void settle() {}

  // Nothing is sent to this rank now, but its loss is to be noticed: begins a connection, where
  // loss shows only by a connection and there is none.
  virtual void watch_peer(int /*peer*/) {}
  // The caller knows that this rank has ended or broken the protocol: nothing is sent to it or
  // received from it any more. If it is alive, it loses this rank in turn.
  virtual void forget(int /*peer*/) {}

 private:
  virtual void send_both(int to, std::span<const std::byte> batch,
                         std::span<const std::byte> end) = 0;
};

}  // namespace nearcache::net
