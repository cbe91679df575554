// SPDX-License-Identifier: BSD-3-Clause

// Spatial sampling (SHARDS: Waldspurger, Park, Garthwaite, Ahmad, FAST 2015): the key's hash
// decides whether all gets of a key are in the sample or none. On the sample, a cache with the same
// fraction of the storage behaves like the full cache on all gets. Replaying real policies this way
// is called "miniature simulation" (Waldspurger et al., ATC 2017).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nearcache::simulate {

class Sample {
 public:
  Sample() = default;  // samples everything
  // Samples about the fraction `rate` (0..1] of the keys.
  explicit Sample(double rate) {
    if (rate < 1) below_ = std::max<uint64_t>(1, static_cast<uint64_t>(std::ldexp(rate, 32)));
  }
  bool is_all() const { return below_ == everything; }
  double rate() const { return is_all() ? 1 : std::ldexp(static_cast<double>(below_), -32); }
  bool has(uint64_t hash) const {
    return ((hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 32) < below_;
  }
  uint64_t scaled(uint64_t amount) const {
    return is_all() ? amount : static_cast<uint64_t>(static_cast<double>(amount) * rate());
  }

 private:
  static constexpr uint64_t everything = uint64_t{1} << 32;
  uint64_t below_ = everything;
};

}  // namespace nearcache::simulate
