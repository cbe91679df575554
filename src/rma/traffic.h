// SPDX-License-Identifier: BSD-3-Clause

// What is on its way from this rank to a target of a window, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "net/direct_memory.h"
#include "rma/layouts.h"

namespace nearcache::rma {

// Memory of a far target that the network accesses without it (window_transfers.cpp). Such
// transfers are numbered separately from messages.
struct Direct {
  net::DirectMemory::Key key;
  uint64_t size = 0;  // 0: not accessible
  int64_t unit = 1;
  bool crowded = false;   // there was no room for a transfer
  bool asked = false;     // a question for the location is not answered yet
  uint64_t asked_in = 0;  // this rank's epoch when it was asked
  uint64_t epoch = 0;     // the target has answered a question asked in this epoch
  uint64_t begun = 0, done = 0;
  uint64_t fetching = 0;  // the last transfer that fetches
};

// What is on its way to a target and back. Kept only while something is, or while there are
// layouts or direct memory to remember.
struct Traffic {
  explicit Traffic(uint64_t number)
      : issued(number), answered(number), fetching(number), reached(number) {}

  uint64_t issued;    // messages numbered so far
  uint64_t answered;  // the last message whose reply is here or on its way
  uint64_t fetching;  // the last message that fetches
  uint64_t reached;   // the last message known to be executed
  // Messages numbered up to `deferred` waited for a lock, and were then sent under other numbers:
  // they are reached when the last of these, `deferred_end`, is.
  uint64_t deferred = 0, deferred_end = 0;
  uint64_t bytes = 0, bytes_reached = 0, bytes_asked = 0;
  uint64_t locked_at = 0;  // messages issued before the lock was requested
  SentLayouts layouts;
  std::unique_ptr<Direct> direct;  // once the target has been asked
};

// Programs that wait for each operation need a Traffic for each: a few are kept.
class SpareTraffic {
 public:
  std::unique_ptr<Traffic> take(uint64_t number) {
    if (spare_.empty()) return std::make_unique<Traffic>(number);
    std::unique_ptr<Traffic> taken = std::move(spare_.back());
    spare_.pop_back();
    *taken = Traffic(number);
    return taken;
  }
  void give_back(std::unique_ptr<Traffic> traffic) {
    if (spare_.size() < most) spare_.push_back(std::move(traffic));
  }

 private:
  static constexpr size_t most = 16;
  std::vector<std::unique_ptr<Traffic>> spare_;
};

}  // namespace nearcache::rma
