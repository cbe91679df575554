// SPDX-License-Identifier: BSD-3-Clause

// Acquires: how long mode transparent may serve what was read, namely until the program may have
// learned of others' writes. One object per process.
#pragma once

#include <atomic>
#include <cstdint>

namespace nearcache {

struct Acquires {
  std::atomic<uint64_t> count{1};  // nothing read before the last acquire is served
  // how often the program may have learned of others' writes: a later read does not count as a
  // repeat of an earlier one (mpi/process/phases.h)
  std::atomic<uint32_t> learned{1};
  std::atomic<uint32_t> ordered{0};  // how often a shared lock was passed to MPI
  // nobody is known to write: completing gets, or a shared lock, is no acquire
  // (mpi/process/phases.h)
  std::atomic<bool> quiet{false};

  uint64_t all() const { return count.load(std::memory_order_relaxed); }
  uint32_t now() const { return static_cast<uint32_t>(all()); }  // as stored in entries: wraps
  void add(bool threaded) {
    if (threaded) {
      count.fetch_add(1, std::memory_order_acq_rel);
    } else {
      count.store(all() + 1, std::memory_order_relaxed);
    }
  }
  void learn() { add_one(&learned); }
  void order() { add_one(&ordered); }
  // How often there was an acquire that is one in quiet phases, too.
  uint32_t certain() const {
    return learned.load(std::memory_order_relaxed) + ordered.load(std::memory_order_relaxed);
  }

 private:
  static void add_one(std::atomic<uint32_t>* number) {
    number->store(number->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

}  // namespace nearcache
