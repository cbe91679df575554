// The memory that all caches of a process may use together (option max_storage).
#pragma once

#include <atomic>
#include <cstdint>

namespace nearcache {

// Bytes of memory of this node: the smaller of physical memory and the control group's limit.
uint64_t node_memory_bytes();

// Whether this process may make a file so large, in memory too (ulimit -f): the system ends who
// does so anyway, by a signal (SIGXFSZ).
bool file_may_have(uint64_t bytes);

// Processes of this job on this node as the launcher says, at least 1: it sets a variable, or says
// nothing.
uint64_t launched_on_node();

// Counts what caches hold, so that together they never exceed a limit. Thread-safe.
class MemoryBudget {
 public:
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  // Takes `bytes`, or nothing and false if the limit does not allow it.
  bool take(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  uint64_t limit_ = UINT64_MAX;
  std::atomic<uint64_t> used_{0};
};

}  // namespace nearcache
