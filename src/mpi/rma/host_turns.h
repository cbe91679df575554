// SPDX-License-Identifier: BSD-3-Clause

// Calls of the host for its progress. A program may wait for others by calls that the engine
// answers itself, again and again: it tests an epoch, or gets a word of another rank until it
// changes. The others may meanwhile wait for its messages, which many hosts move only while they
// are called. So now and then a synchronising call also enters the host.
#pragma once

#include <cstdint>

#include "base/racy.h"
#include "mpi/process/context.h"

namespace nearcache::mpi {

class HostTurns {
 public:
  // Counts a call on the fast path of a program without threads. Returns false if the call must
  // take the slow path, where passes() is false, too, and look() is called.
  [[gnu::always_inline]] bool passes_fast() { return --left_ != 0; }
  [[gnu::always_inline]] bool passes() {
    return context.threaded ? --left_of_threads_ > 0 : left_ != 0 && --left_ != 0;
  }
  // Calls the host if the last call is long enough ago, and returns whether it did. Not under the
  // agent's lock.
  bool look();
  // For calls that may take less time than reading the clock.
  void pass() {
    if (!passes()) look();
  }

 private:
  static constexpr int calls = 1024;  // take 10 us if they are of the fastest kind

  uint32_t left_ = calls;
  Racy<int> left_of_threads_ = calls;
  Racy<uint64_t> called_at_ = 0;
};

inline constinit HostTurns host_turns;

}  // namespace nearcache::mpi
