// SPDX-License-Identifier: BSD-3-Clause

// The ranks of one node, which share an arena (net/arena.h). Each has a slice of it, from which its
// windows take memory, and in which it publishes what others need to know about them.
//
// Only the owner of a slice writes the table of what is where in it, and relies only on its own
// record of that in private memory. What others have written is checked before it is used.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/arena.h"
#include "net/inbox.h"
#include "net/page_allocator.h"
#include "rma/commons.h"
#include "rma/memory.h"

namespace nearcache::rma {

class Node {
 public:
  // `ranks`: the ranks of the job that are on the node, ascending. `rank`: one of them.
  Node(std::shared_ptr<net::Arena> arena, std::vector<int> ranks, int rank);

  size_t size() const { return ranks_.size(); }
  // Returns the rank's place on the node; -1 if it is elsewhere.
  int place_of(int rank) const;
  size_t own_place() const { return own_; }
  int rank_at(size_t place) const { return ranks_[place]; }

  struct Process {
    pid_t number = 0;  // pid; 0: not known
    bool reachable = false;
  };
  // Before the first window: the processes by place, and whether this one can reach their memory.
  void know(std::vector<Process> processes) { processes_ = std::move(processes); }
  Process process(size_t place) const {
    return place < processes_.size() ? processes_[place] : Process{};
  }

  // Before the first window: makes the memory that no window has taken inaccessible to this
  // process. If the program locks all of its memory (mlockall), the system fills whatever is
  // accessible.
  void close_off() const;

  // Takes whole zeroed pages; null if there is no room. Several threads must not use these at once.
  std::byte* take(uint64_t bytes);
  void give_back(std::byte* memory);
  uint64_t bytes_in_use() const { return memory_.used() * page; }
  bool contains(const void* address) const { return arena_->contains(address); }

  // Whether one more window may be published.
  bool has_room() const { return numbers_.size() < most_windows; }
  // Publishes a window of this rank, once; has_room() must be true.
  Commons* publish(uint64_t id, const Memory& memory);
  void withdraw(Commons* commons);
  // Returns what the rank at this place has published about the window; null if nothing yet.
  Commons* find(size_t place, uint64_t id) const;
  // Whether this range, which another rank has published, lies in the arena.
  bool holds(uint64_t offset, uint64_t size) const;
  std::byte* at(uint64_t offset) const { return arena_->at(offset); }
  // Makes such a range accessible to this process, as take() does with what it returns. Returns
  // false if the system refuses.
  bool open_up(uint64_t offset, uint64_t bytes) const;
  // Returns the inbox in which the rank at this place receives messages from the others.
  net::Inbox* inbox(size_t place) const;

  static constexpr uint64_t most_windows = 8192;  // at a time, per rank

 private:
  static constexpr uint64_t page = 4096, slots = 2 * most_windows;

  uint64_t table_bytes() const;
  uint64_t head_bytes() const;
  uint64_t slice(size_t place) const;
  Commons* slot(size_t place, uint64_t number) const;

  std::shared_ptr<net::Arena> arena_;
  std::vector<int> ranks_;
  std::vector<Process> processes_;
  size_t own_;
  std::unordered_map<const Commons*, uint64_t> numbers_;  // slot numbers of published windows
  net::PageAllocator memory_;
};

}  // namespace nearcache::rma
