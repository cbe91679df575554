// SPDX-License-Identifier: BSD-3-Clause

// Records the program's accesses in a trace (option `trace`). Accesses to PEs whose memory can be
// reached by loads and stores are not recorded, because no cache could do better.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "telemetry/rank_trace.h"

namespace nearcache::shmem {

class Channel;

class Observer {
 public:
  // Opens the trace if the options ask for one; called after initialisation on every PE.
  void start();
  // Closes the trace at the end of the program.
  void stop();
  bool tracing() const { return tracing_.load(std::memory_order_relaxed); }

  // The following functions do nothing without a trace. `pe` is numbered as in the channel's team.
  void get(const Channel& channel, Outcome outcome, int pe, uint64_t address, size_t bytes);
  void write(const Channel& channel, TraceWrite kind, int pe, uint64_t address, size_t bytes);
  void sync(const Channel& channel, TraceSync kind);
  void acquire();
  // Records how long an operation of the library took; of each kind of operation, as many as their
  // mean needs.
  void cost(TraceCost what, uint64_t bytes, uint64_t ns);
  void opened(const Channel& channel);
  void closed(const Channel& channel);

 private:
  template <class Record>
  void record(Record record);

  std::atomic<bool> tracing_{false};
  std::mutex mutex_;
  RankTrace trace_;
  uint64_t costs_[trace_costs] = {};
};

}  // namespace nearcache::shmem
