// Pauses: for a while, calls on a window of which nothing is cached, and nothing would be, go to
// MPI at once and unnoted (docs/architecture.md, "Windows that pause").
#pragma once

#include <climits>
#include <cstdint>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Pause {
 public:
  static constexpr uint32_t span = 4096;  // gets of a pause; then some are looked at again
  // calls in a row that bypassed the cache before a pause begins
  static constexpr uint32_t look = 64;

  // Puts, accumulates and flushes pass.
  bool on() const { return on_; }
  // This get passes, and is counted: one of the type at hand, of no more bytes than those that went
  // past the cache.
  bool takes(MPI_Datatype type, MPI_Count count) {
    if (left_ == 0 || type != type_ || count <= 0 || static_cast<uint64_t>(count) > most_count_)
      return false;
    --left_;
    bytes_ += size_ * static_cast<uint64_t>(count);
    return true;
  }
  // The same of another type, which is at hand from now on. `size`: of one.
  bool takes(MPI_Datatype type, uint64_t size, MPI_Count count) {
    if (left_ == 0 || size == 0) return false;
    learn(type, size);
    return takes(type, count);
  }

  // A get bypassed the cache, or another call of those that always do: a write, a get of the own
  // rank. Is it time to pause?
  bool get_passed() { return ++gets_in_a_row_ % look == 0; }
  bool other_passed() { return ++others_in_a_row_ % look == 0; }
  // A get was asked of the cache.
  void get_asked() { gets_in_a_row_ = others_in_a_row_ = 0; }

  // `largest`: larger gets end it. `counted`: gets of the window are.
  void begin(MPI_Datatype type, uint64_t size, uint64_t largest, bool counted) {
    on_ = true;
    counted_ = counted;
    left_ = span;
    most_bytes_ = largest;
    learn(type, size);
  }
  // Until the first get from another rank.
  void begin_of_others() { on_ = counted_ = true; }
  // Returns how many gets passed.
  uint32_t end() {
    const uint32_t gets = passed();
    if (counted_) gets_ += gets;
    *this = Pause(gets_, bytes_);
    return gets;
  }

  uint64_t gets() const { return gets_ + (counted_ ? passed() : 0); }
  uint64_t bytes() const { return bytes_; }

  Pause() = default;

 private:
  Pause(uint64_t gets, uint64_t bytes) : bytes_(bytes), gets_(gets) {}
  uint32_t passed() const { return most_bytes_ != 0 ? span - left_ : 0; }
  void learn(MPI_Datatype type, uint64_t size) {
    type_ = type;
    size_ = counted_ ? size : 0;
    most_count_ = most_bytes_ / size;
  }

  uint32_t left_ = 0;  // gets that will pass
  bool on_ = false, counted_ = false;
  MPI_Datatype type_{};
  uint64_t size_ = 0, most_count_ = 0;
  uint64_t bytes_ = 0;  // of all gets that passed
  uint64_t most_bytes_ = 0;
  uint64_t gets_ = 0;  // that passed in pauses that are over
  uint32_t gets_in_a_row_ = 0, others_in_a_row_ = 0;
};

}  // namespace nearcache::mpi
