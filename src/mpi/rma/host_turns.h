// Turns of the host. A program may wait for others by calls that the engine answers, again and
// again: it tests an epoch, or gets a word of another rank until that changes. But the others may
// wait for its messages meanwhile, which many hosts move only while they are called. So of calls
// that synchronise one goes down to the host now and then.
#pragma once

#include <cstdint>

#include "mpi/process/context.h"
#include "mpi/process/progress.h"

namespace nearcache::mpi {

class HostTurns {
 public:
  // Of a call on the fast path, in a program without threads. False: this one takes the slow path,
  // where `passes` says so, too, and `look` is called.
  [[gnu::always_inline]] bool passes_fast() { return --left_ != 0; }
  [[gnu::always_inline]] bool passes() {
    return context.threaded ? --left_of_threads_ > 0 : left_ != 0 && --left_ != 0;
  }
  // The clock decides whether the host is called. Not under the agent's lock.
  void look();
  // Of a call that may take less time than a look at the clock.
  void pass() {
    if (!passes()) look();
  }

 private:
  static constexpr int calls = 1024;  // 10 us, of the fastest

  uint32_t left_ = calls;
  Racy<int> left_of_threads_ = calls;
  Racy<uint64_t> called_at_ = 0;
};

inline constinit HostTurns host_turns;

}  // namespace nearcache::mpi
