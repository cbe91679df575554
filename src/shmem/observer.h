// Observes the program for the trace (option `trace`). Accesses to PEs within reach of loads and
// stores are not recorded, because no cache could do better.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "telemetry/trace_writer.h"

namespace nearcache::shmem {

class Channel;

class Observer {
 public:
  // Opens what the options ask for; after initialisation, on every PE.
  void start();
  // Closes the trace; the program ends.
  void stop();
  bool tracing() const { return tracing_.load(std::memory_order_relaxed); }

  // Nothing happens without a trace. A get that `blocks`, or is complete at the next quiet;
  // `direct`: no cache would serve it, as it is strided. Of a PE of the channel's team.
  void get(const Channel& channel, Outcome outcome, int pe, uint64_t address, size_t bytes);
  void write(const Channel& channel, TraceWrite kind, int pe, uint64_t address, size_t bytes);
  void sync(const Channel& channel, TraceSync kind);
  void acquire();
  // What an operation of the library took. For operations of one kind so much is put down of them
  // as their mean needs.
  void cost(TraceCost what, uint64_t bytes, uint64_t ns);
  void opened(const Channel& channel);
  void closed(const Channel& channel);

 private:
  template <class Record>
  void record(Record record);

  std::atomic<bool> tracing_{false};
  std::mutex mutex_;
  TraceWriter trace_;
  std::string path_;
  uint64_t costs_[trace_costs] = {};
};

}  // namespace nearcache::shmem
