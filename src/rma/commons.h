// SPDX-License-Identifier: BSD-3-Clause

// The state of one rank's part of a window that all ranks of its node share: its lock, and the
// words by which they synchronise. If the window is opened without a node, it is private.
//
// Accumulates on the memory are executed by the rank that requests them if it can reach the memory,
// and otherwise by the owner's agent, always under `elements`: so there is one atomic domain. A
// lock is used rather than atomic instructions, because it serves every type and operation in the
// same way, takes two atomic instructions for any number of elements instead of one for each (128
// doubles: 665 ns by compare-and-swap, 34 ns under a lock), and no rank needs to know which of the
// two another uses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/round.h"
#include "rma/shared_words.h"

namespace nearcache::rma {

struct Commons {
  static constexpr uint64_t cache_line = 64;
  enum class Where : uint32_t { nowhere, arena, process };

  std::atomic<uint64_t> window;  // the window's id; 0: none. Set last
  // Constant once `window` is set. Where the memory is (an offset in the arena, or an address in
  // the owner's process), its size in bytes, and the displacement unit.
  uint64_t place, size;
  int64_t unit;
  Where where;
  Mutex elements;
  LockWord lock;
  // The queue for the lock (lock_queue.h): the number of tickets drawn so far, and the owner's
  // ticket.
  static constexpr uint32_t no_ticket = 0;
  Mutex order;
  std::atomic<uint32_t> tickets, far_ticket;
  std::atomic<uint32_t> granting;  // a rank is about to take the lock for another

  // Words that others write and the owner waits for.
  alignas(8) Doorbell bell;
  std::atomic<uint64_t> completed;  // epochs that origins have completed
  // Written by the owner, if the window also has far members: the number of fences that are over
  // here, which means that all ranks have entered them and everything sent before is executed.
  std::atomic<uint64_t> fences_over;
  Doorbell over;

  // One for each rank of the node, behind this struct.
  struct OfRank {
    std::atomic<uint32_t> posts;   // epochs that it has posted to the owner
    std::atomic<Held> holds;       // how it holds the lock, if taken by the word
    std::atomic<uint32_t> ticket;  // its ticket for the lock
    // Of a fence, not of this rank: element k is for round k, of which there are fewer than ranks.
    // The last fence whose token has arrived.
    std::atomic<uint32_t> token;
  };
  OfRank* of_ranks() { return reinterpret_cast<OfRank*>(this + 1); }
  static constexpr uint64_t bytes(size_t node_ranks) {
    const uint64_t all = sizeof(Commons) + node_ranks * sizeof(OfRank);
    return round_up(all, cache_line);
  }
};
static_assert(offsetof(Commons, bell) == Commons::cache_line);
static_assert(std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free);

}  // namespace nearcache::rma
