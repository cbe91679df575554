// SPDX-License-Identifier: BSD-3-Clause

// Pauses: for a while, calls on a window that has nothing in the cache, and would put nothing
// there, go straight to MPI without being noted (docs/architecture.md, "Windows that pause").
#pragma once

#include <climits>
#include <cstdint>

#include "mpi/mpi_api.h"
#include "mpi/window/bypasses.h"
#include "mpi/window/sample_clock.h"

namespace nearcache::mpi {

class Pause {
 public:
  // Gets per pause, after which some are inspected again: where too few repeat, and where they have
  // turned out to be cheap, which is soon found again.
  static constexpr uint32_t span = 4096, long_span = 65536;

  // Puts, accumulates and flushes go straight to MPI.
  bool on() const { return on_; }
  // Returns true, and counts the get, if it may go straight to MPI: it has the current datatype and
  // is no larger than the gets that bypassed the cache.
  bool takes(MPI_Datatype type, MPI_Count count) {
    if (left_ == 0 || type != type_ || count <= 0 || static_cast<uint64_t>(count) > most_count_)
      return false;
    --left_;
    bytes_ += size_ * static_cast<uint64_t>(count);
    return true;
  }
  // Like the above for another datatype, of `size` bytes, which becomes the current one.
  bool takes(MPI_Datatype type, uint64_t size, MPI_Count count) {
    if (left_ == 0 || size == 0) return false;
    learn(type, size);
    return takes(type, count);
  }

  // See Bypasses.
  bool get_passed() { return bypasses_.get_passed(); }
  bool other_passed() { return bypasses_.other_passed(); }
  void get_asked() { bypasses_.get_asked(); }
  bool gets_bypass() const { return bypasses_.gets_bypass(); }

  // `largest`: the most bytes of a get that the pause lets pass; a larger one ends it. `counted`:
  // the window's gets appear in its counters. `gets`: that pass at most.
  void begin(MPI_Datatype type, uint64_t size, uint64_t largest, bool counted, uint32_t gets) {
    on_ = true;
    counted_ = counted;
    span_ = left_ = gets;
    most_bytes_ = largest;
    bytes_then_ = bytes_;
    began_ = sample_ticks();
    learn(type, size);
  }
  // Begins a pause that lasts until the first get from another rank.
  void begin_of_others() { on_ = counted_ = true; }
  struct Passed {
    uint32_t gets = 0;
    uint64_t bytes = 0;
    double ns = 0;  // the whole pause, with whatever the program did between its gets
  };
  // Returns what passed during the pause.
  Passed end() {
    const Passed passed{gets_passed(), bytes_ - bytes_then_, sample_ns(sample_ticks() - began_)};
    if (counted_) gets_ += passed.gets;
    *this = Pause(gets_, bytes_);
    return passed;
  }

  uint64_t gets() const { return gets_ + (counted_ ? gets_passed() : 0); }
  uint64_t bytes() const { return bytes_; }

  Pause() = default;

 private:
  Pause(uint64_t gets, uint64_t bytes) : bytes_(bytes), gets_(gets) {}
  uint32_t gets_passed() const { return most_bytes_ != 0 ? span_ - left_ : 0; }
  void learn(MPI_Datatype type, uint64_t size) {
    type_ = type;
    size_ = counted_ ? size : 0;
    most_count_ = most_bytes_ / size;
  }

  uint32_t span_ = 0, left_ = 0;  // gets that may pass, and still may
  bool on_ = false, counted_ = false;
  MPI_Datatype type_{};
  uint64_t size_ = 0, most_count_ = 0;
  uint64_t bytes_ = 0;  // of all gets that passed
  uint64_t most_bytes_ = 0;
  uint64_t bytes_then_ = 0, began_ = 0;  // when the pause began
  uint64_t gets_ = 0;                    // passed in earlier pauses
  Bypasses bypasses_;
};

}  // namespace nearcache::mpi
