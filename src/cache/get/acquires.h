// How long mode transparent may serve what was read: until the program may have learned of others' writes. One for a process.
#pragma once

#include <atomic>
#include <cstdint>

namespace nearcache {

struct Acquires {
  std::atomic<uint32_t> count{1};   // what was read before the last one is not served; wraps after 2^32
  std::atomic<bool> quiet{false};   // nobody is known to write: completing gets, or a shared lock, is no acquire (mpi/process/phases.h)

  uint32_t now() const { return count.load(std::memory_order_relaxed); }
  void add(bool threaded) {
    if (threaded) {
      count.fetch_add(1, std::memory_order_acq_rel);
    } else {
      count.store(now() + 1, std::memory_order_relaxed);
    }
  }
};

}  // namespace nearcache
