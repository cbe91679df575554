// The ranks of one node, which share an arena (net/arena.h): each has a slice of it, from which its
// windows take memory, and where it publishes what others must know of them.
//
// Only the owner of a slice writes to what says what is where in it, and keeps that in its own
// memory besides; what others have written is checked before it is believed.
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
  // The ranks of the job that are on the node, in ascending order; `rank` is one of them.
  Node(std::shared_ptr<net::Arena> arena, std::vector<int> ranks, int rank);

  size_t size() const { return ranks_.size(); }
  // Which of them it is; -1: none.
  int place_of(int rank) const;
  size_t own_place() const { return own_; }
  int rank_at(size_t place) const { return ranks_[place]; }

  struct Process {
    pid_t number = 0;  // 0: not known
    bool reachable = false;
  };
  // Before the first window: by place, who they are, and whether this process reaches their memory.
  void know(std::vector<Process> processes) { processes_ = std::move(processes); }
  Process process(size_t place) const {
    return place < processes_.size() ? processes_[place] : Process{};
  }

  // Whole pages, of zeros; null if there is no room. Several threads must not use these at once.
  std::byte* take(uint64_t bytes);
  void give_back(std::byte* memory);
  uint64_t bytes_in_use() const { return memory_.used() * page; }
  bool contains(const void* address) const { return arena_->contains(address); }

  // There is room for one more window.
  bool has_room() const { return numbers_.size() < most_windows; }
  // Tells the others of a window of this rank. Once for a window, with room.
  Commons* publish(uint64_t id, const Memory& memory);
  void withdraw(Commons* commons);
  // What the rank at this place has published of the window, null if it has not yet.
  Commons* find(size_t place, uint64_t id) const;
  // Whether the memory that it says is in the arena.
  bool holds(uint64_t offset, uint64_t size) const;
  std::byte* at(uint64_t offset) const { return arena_->at(offset); }
  // Where this one gets messages from the others.
  net::Inbox* inbox(size_t place) const;

  static constexpr uint64_t most_windows = 8192;  // at a time, of a rank

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
  std::unordered_map<const Commons*, uint64_t> numbers_;  // of the slots of what is published
  net::PageAllocator memory_;
};

}  // namespace nearcache::rma
