// What the ranks of one node share of a window at one of them: its lock, and the words by which
// they synchronise. If others cannot address the window's memory, the owner has it alone.
//
// Accumulates on the memory are executed by the rank that requests them if it can address the
// memory, and otherwise by the owner's agent, always under `elements`: so there is one atomic
// domain. A lock rather than atomic instructions, because it serves every type and operation in the
// same way, takes two atomic instructions for any number of elements where they would take one each
// (128 doubles: 665 ns by compare-and-swap, 34 ns under a lock), and no rank need know which of the
// two another uses.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "rma/shared_words.h"

namespace nearcache::rma {

struct alignas(64) Commons {
  static constexpr int most_rounds = 16;  // of a fence
  enum class Where : uint32_t { nowhere, arena, process };

  std::atomic<uint64_t> window;  // its id; 0: none. Set last
  // What follows is not written once `window` is set. Its memory: bytes from the arena's beginning,
  // or an address of the owner's process; the unit of displacements.
  uint64_t place, size;
  int64_t unit;
  Where where;
  Mutex elements;
  LockWord lock;
  // Who waits for the lock (lock_queue.h): how many tickets there were, and that of the owner.
  static constexpr uint32_t no_ticket = 0;
  Mutex order;
  std::atomic<uint32_t> tickets, far_ticket;
  std::atomic<uint32_t> granting;  // somebody is about to take the lock for another

  // Words that others write and the owner awaits.
  alignas(64) Doorbell bell;
  std::atomic<uint32_t> tokens[most_rounds];  // by round: the last fence whose token has come
  std::atomic<uint64_t> completed;            // epochs of origins
  // Of the owner: fences that were entered by all, and before which all is executed here.
  alignas(64) std::atomic<uint64_t> fences_over;
  Doorbell over;

  // Behind it, by rank of the node.
  struct OfRank {
    std::atomic<uint32_t> posts;   // epochs that it has posted
    std::atomic<Held> holds;       // the lock, by its word
    std::atomic<uint32_t> ticket;  // in the lock's queue
  };
  OfRank* of_ranks() { return reinterpret_cast<OfRank*>(this + 1); }
  static constexpr uint64_t bytes(size_t node_ranks) {
    const uint64_t all = sizeof(Commons) + node_ranks * sizeof(OfRank);
    return (all + alignof(Commons) - 1) / alignof(Commons) * alignof(Commons);
  }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free);

}  // namespace nearcache::rma
