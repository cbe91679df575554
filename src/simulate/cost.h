// What gets cost in a simulation: the same line L + size * G for every get, so that totals are all it takes.
#pragma once

#include <cstdint>

#include "cache/get/cost_model.h"

namespace nearcache::simulate {

struct Cost {
  double latency_ns = 2000;   // what the engine assumes until something is measured
  double ns_per_byte = 0.2;

  double of(uint64_t gets, uint64_t bytes) const {
    return latency_ns * static_cast<double>(gets) + ns_per_byte * static_cast<double>(bytes);
  }
  double get(uint64_t bytes) const { return of(1, bytes); }
};

// What hits cost together by the library's own reckoning.
inline double hit_ns(uint64_t hits, uint64_t bytes) {
  const double fixed = hit_cost_ns(0);
  return fixed * static_cast<double>(hits) + (hit_cost_ns(1) - fixed) * static_cast<double>(bytes);
}

}  // namespace nearcache::simulate
