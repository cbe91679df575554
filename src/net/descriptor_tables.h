// SPDX-License-Identifier: BSD-3-Clause

// A thread (the engine's agent) with a table of descriptors of its own.
//
// While a process's table belongs to a single thread, Linux need not count who is using a file in a
// system call. A second thread, even one that only sleeps, ends this: a round trip over TCP, of the
// program as of the engine, then takes 1 to 2% longer. So the agent has a table of its own, with
// only what it needs. As long as it shares the program's table instead (before Linux 6.9, which
// lets a thread take descriptors from another one's table, or where a sandbox forbids that), none
// of this matters.
//
// The program and the agent use the same files in turn, under a mutex. What is kept when the tables
// part has the same number in both. What one side opens or closes later is settled by the other one
// before it uses any of it.
#pragma once

#include <array>
#include <span>
#include <utility>

namespace nearcache::net {

class DescriptorTables {
 public:
  DescriptorTables() = default;
  ~DescriptorTables() { close_both(); }
  DescriptorTables(const DescriptorTables&) = delete;
  DescriptorTables& operator=(const DescriptorTables&) = delete;

  // Called by the agent's thread, once, while no other thread opens any of the `kept` descriptors:
  // gives this thread a table with these only. Returns false if that is impossible, which changes
  // nothing.
  bool part(std::span<const int> kept);
  bool parted() const { return parted_; }
  // Whether the calling thread uses the agent's table.
  bool here_is_agents() const { return parted_ && agents_thread_; }
  // Returns a new descriptor, in this thread's table, of a file that has this number in the other
  // one; -1 on failure, with errno. It is closed at exec.
  int fetch(int number) const;

  // This side has opened or closed something, or could not settle everything.
  void leave_to_other() { unsettled_[here_is_agents() ? 0 : 1] = true; }
  void leave_for_later() { unsettled_[here_is_agents() ? 1 : 0] = true; }
  // Returns true, once, if the calling side has something to settle.
  bool must_settle() {
    if (!unsettled_[0] && !unsettled_[1]) [[likely]]
      return false;
    return std::exchange(unsettled_[here_is_agents() ? 1 : 0], false);
  }

 private:
  bool try_to_part(std::span<const int> kept);
  void close_both();

  static thread_local bool agents_thread_;
  bool parted_ = false;
  std::array<bool, 2> unsettled_{};  // by the program, by the agent
  int program_ = -1, agent_ = -1;    // whose tables they are; the same numbers in both
};

}  // namespace nearcache::net
