// SPDX-License-Identifier: BSD-3-Clause

// The cost of gets in a simulation: the same line L + size * G for every get, so that totals
// suffice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/get/cost_model.h"

namespace nearcache::simulate {

struct Cost {
  double latency_ns = 2000;  // what the engine assumes until it has measurements
  double ns_per_byte = 0.2;

  double of(uint64_t gets, uint64_t bytes) const {
    return latency_ns * static_cast<double>(gets) + ns_per_byte * static_cast<double>(bytes);
  }
  double get(uint64_t bytes) const { return of(1, bytes); }
};

// Returns the total cost of hits, as the library estimates it.
inline double hit_ns(uint64_t hits, uint64_t bytes) {
  return Cost{hit_cost.latency_ns, hit_cost.ns_per_byte}.of(hits, bytes);
}

// The costs measured in a trace. On a busy machine some or even all gets take longer than the
// network does, but none takes less. So the mean is reported as well as the time of the quickest
// tenth, which the machine's other work hardly affects. In the mean a get counts for a few times
// the others' mean at most; with_slowest() counts every get in full.
class CostSamples {
 public:
  void add(uint64_t bytes, double ns) {
    model_.sample(bytes, ns);
    if (kept_.size() < most_kept) kept_.push_back({bytes, ns});
  }
  uint32_t samples() const { return model_.samples(); }
  Cost mean() const { return {model_.latency_ns(), model_.ns_per_byte()}; }
  Cost least() const {
    const Cost line = mean();
    std::vector<double> shares;
    shares.reserve(kept_.size());
    for (const Sample& sample : kept_)
      shares.push_back(sample.ns / std::max(line.get(sample.bytes), 1.0));
    if (shares.empty()) return line;
    const auto tenth = shares.begin() + static_cast<ptrdiff_t>(shares.size() / 10);
    std::nth_element(shares.begin(), tenth, shares.end());
    const double share = std::min(*tenth, 1.0);
    return {line.latency_ns * share, line.ns_per_byte * share};
  }
  Cost with_slowest() const {
    const Cost line = mean();
    double taken = 0, expected = 0;
    for (const Sample& sample : kept_) taken += sample.ns, expected += line.get(sample.bytes);
    const double share = expected > 0 ? std::max(taken / expected, 1.0) : 1.0;
    return {line.latency_ns * share, line.ns_per_byte * share};
  }

 private:
  static constexpr size_t most_kept = size_t{1} << 20;
  struct Sample {
    uint64_t bytes;
    double ns;
  };
  CostModel model_;
  std::vector<Sample> kept_;
};

}  // namespace nearcache::simulate
