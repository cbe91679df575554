// SPDX-License-Identifier: BSD-3-Clause

// Observes the program, for the trace (option `trace`) and the details of the JSON report.
//
// Windows ask wanted() once, when they are created. If nothing is wanted, a get pays for one test
// of a flag that it reads anyway.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "front/optional_lock.h"
#include "telemetry/profile.h"
#include "telemetry/rank_trace.h"
#include "telemetry/write_tracker.h"

namespace nearcache::mpi {

// A get as observers see it.
struct ObservedGet {
  int64_t window;
  Outcome outcome;
  uint32_t target;
  int64_t displacement;  // bytes
  uint64_t bytes, from_cache;
  uint32_t layout;          // 0: contiguous
  int64_t lowest;           // the bytes of the target that it touches, where layout is not 0: the
  uint64_t span;            // first, and how far it is to behind the last
  uint64_t hash;            // of target, displacement and layout
  bool of_another = false;  // a hit on data fetched by another rank of the node
  bool own = false;         // the target is this rank; the report counts it separately
};

class Observer {
 public:
  // Opens what the options ask for. Called after MPI_Init, on every rank.
  void start();
  // Checks own windows for stores one last time and closes the trace. Called before MPI_Finalize.
  void stop();
  void close();

  bool wanted() const { return tracing_ || profiling_; }
  bool tracing() const { return tracing_; }
  // Null unless a JSON report is wanted.
  Profile* profile() { return profiling_ ? profile_.get() : nullptr; }

  // True if only a trace is wanted and there is one thread: hits may then be recorded by trace_hit,
  // and their flushes by trace_flush.
  bool only_tracing() const { return only_tracing_; }
  void threads_came() { only_tracing_ = false; }
  void trace_hit(int64_t window, uint32_t target, int64_t displacement, uint64_t bytes) {
    trace_.get(static_cast<uint64_t>(window), Outcome::full, target, displacement, bytes);
  }
  void trace_flush(int64_t window, int target) {
    trace_.flush(static_cast<uint64_t>(window), target);
  }

  // Returns true now and then: the caller should then report its levels.
  bool get(const ObservedGet& get);
  void levels(const ProfileLevels& before, const ProfileLevels& now);
  void adapted(const Profile::Adaptation& adaptation);

  // The calls below are for the trace; without one they do nothing.
  void sync(int64_t window, TraceSync kind, int target);
  void acquire();
  void write(int64_t window, TraceWrite kind, int target, int64_t from, int64_t to);
  void cost(uint64_t bytes, double ns);
  void window_mode(int64_t window, uint8_t mode);
  // `base`: this rank's memory of the window, null if there is none to watch.
  void window_created(const TracedWindow& window, const void* base);
  // Called before the window is freed: checks its memory one last time. By window_freed the memory
  // may already be gone (Open MPI 4).
  void window_closing(int64_t window);
  void window_freed(int64_t window);

  // Called before and after a call that may tell others that this rank's memory was written:
  // records what was written, and when.
  void note_own_writes() {
    if (tracing_) [[unlikely]]
      look();
  }

 private:
  struct Watched {
    int64_t window;
    int range;
    uint64_t looked_ns;
  };
  void look();
  void look_at_all();
  void look_at(Watched& watched);
  void unwatch(int64_t window);
  OptionalLock locked();

  bool tracing_ = false, profiling_ = false, only_tracing_ = false;
  std::mutex mutex_;
  RankTrace trace_;
  std::unique_ptr<Profile> profile_;
  std::vector<Watched> watched_;
  std::vector<WriteTracker::Run> runs_;
  uint64_t looks_took_ns_ = 0;
};

}  // namespace nearcache::mpi
