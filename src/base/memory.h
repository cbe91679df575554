// SPDX-License-Identifier: BSD-3-Clause

// The memory that all caches of a process may use together (option max_storage).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/region.h"

namespace nearcache {

// Returns the memory of this node in bytes: the smaller of physical memory and the control group's
// limit.
uint64_t node_memory_bytes();

// Returns the bytes of address space that this process may still map (ulimit -v); UINT64_MAX if
// there is no limit.
uint64_t address_space_left();

// Returns true if this process may create a file of this size, in-memory files included (ulimit
// -f). The system kills a process that exceeds the limit (SIGXFSZ).
bool file_may_have(uint64_t bytes);

// Returns the number of processes of this job on this node, according to the variables set by the
// launcher; 1 if it sets none.
uint64_t launched_on_node();

// Counts the memory held by all caches, so that together they never exceed a limit, and keeps that
// of a cache which has gone, for the next one: a program that makes many windows would otherwise
// wait for the system's pages each time. Thread-safe.
class MemoryBudget {
 public:
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  // Takes `bytes`; or takes nothing and returns false if that would exceed the limit.
  bool take(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    if (!spare_fits()) release_spare();
    return true;
  }
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  // Keeps a region for take_spare(), or releases it if a larger one is kept. `held`: how much of it
  // is memory, which does not count as used, but makes way for what is. `kind`: for what it may be
  // used again.
  void keep_spare(Region region, uint64_t kind, uint64_t held);
  // Moves the spare region into `*region`. Returns false if there is none of this size and kind.
  bool take_spare(size_t bytes, uint64_t kind, Region* region);

 private:
  // If a thread takes memory while another keeps a spare region, one of them sees that both do not
  // fit: hence their sequential consistency.
  bool spare_fits() const {
    const uint64_t used = used_;
    return used <= limit_ && spare_ <= limit_ - used;
  }
  void release_spare();

  uint64_t limit_ = UINT64_MAX;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> spare_{0};  // memory of spare_region_
  std::mutex mutex_;                // guards the following
  Region spare_region_;
  uint64_t spare_kind_ = 0;
};

}  // namespace nearcache
