// SPDX-License-Identifier: BSD-3-Clause

// Entries in an order that a policy maintains: a doubly linked queue, with its links beside the
// descriptors.
#pragma once

#include <cstdint>

#include "cache/get/entry.h"

namespace nearcache {

struct QueueLinks {
  EntryId before, after;
};

struct Queue {
  EntryId first = no_entry, last = no_entry;
  uint64_t bytes = 0;  // of storage that its entries hold

  void push_front(QueueLinks* links, EntryId id, uint64_t room) {
    links[id] = {no_entry, first};
    (first == no_entry ? last : links[first].before) = id;
    first = id;
    bytes += room;
  }

  void take_out(QueueLinks* links, EntryId id, uint64_t room) {
    const QueueLinks at = links[id];
    (at.before == no_entry ? first : links[at.before].after) = at.after;
    (at.after == no_entry ? last : links[at.after].before) = at.before;
    bytes -= room;
  }
};

// The state of all policies that keep an order: queues, and the position of SIEVE's hand.
struct PolicyQueues {
  Queue queue[3];
  EntryId hand = no_entry;
};

}  // namespace nearcache
