// SPDX-License-Identifier: BSD-3-Clause

// Counts calls in a row that bypass the cache, until there are so many that a pause is worth
// considering (pause.h).
#pragma once

#include <cstdint>

namespace nearcache::mpi {

class Bypasses {
 public:
  static constexpr uint32_t look = 64, few = 4;

  // Called when a get, or a call that always bypasses the cache (a write, a get from the rank
  // itself, an unlock), has bypassed it. Returns true if it is time to consider a pause. The others
  // count only while no get comes between them: it would end their pause.
  bool get_passed() {
    others_ = 0;
    return ++gets_ % look == 0;
  }
  bool other_passed() { return ++others_ % look == 0; }
  // Returns true if the last few gets have bypassed the cache.
  bool gets_bypass() const { return gets_ >= few; }
  // The cache was consulted for a get.
  void get_asked() { gets_ = others_ = 0; }

 private:
  uint32_t gets_ = 0, others_ = 0;
};

}  // namespace nearcache::mpi
