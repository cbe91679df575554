// SPDX-License-Identifier: BSD-3-Clause

// The typical cost of a transfer in this program: the mean of its transfers without the slowest 2%.
//
// On an idle machine all transfers take about equally long. If PEs share processors, or a target
// computes and answers late, they take tens to hundreds of times as long as the fastest, and so
// would those that hits saved: the fastest is no measure then. The slowest few are left out because
// a wait for a late PE would have happened once without a cache, too, and not once per hit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace nearcache::shmem {

class TypicalTime {
 public:
  void add(uint64_t ns) {
    ++counts_[bucket_of(ns)];
    ++count_;
  }

  // Nanoseconds, accurate to one eighth; 0 if nothing was timed.
  uint64_t ns() const {
    const uint64_t kept = count_ - (count_ + 49) / 50;
    if (kept == 0)
      return count_ == 0 ? 0 : static_cast<uint64_t>(sum_of(count_) / static_cast<double>(count_));
    return static_cast<uint64_t>(sum_of(kept) / static_cast<double>(kept));
  }

 private:
  static constexpr int parts = 4;  // buckets in each power of two
  static constexpr size_t buckets = 48 * parts;

  static size_t bucket_of(uint64_t ns) {
    if (ns < parts) return static_cast<size_t>(ns);
    const int shift = static_cast<int>(std::bit_width(ns)) - 3;  // leaves a number from 4 to 7
    const size_t bucket =
        static_cast<size_t>(shift + 1) * parts + static_cast<size_t>((ns >> shift) - parts);
    return bucket < buckets ? bucket : buckets - 1;
  }
  static double middle_of(size_t bucket) {
    if (bucket < parts) return static_cast<double>(bucket);
    const double width = static_cast<double>(uint64_t{1} << (bucket / parts - 1));
    return width * (static_cast<double>(bucket % parts) + parts + 0.5);
  }
  // The sum of the fastest `kept` transfers.
  double sum_of(uint64_t kept) const {
    double sum = 0;
    for (size_t i = 0; i < buckets && kept != 0; ++i) {
      const uint64_t taken = counts_[i] < kept ? counts_[i] : kept;
      sum += static_cast<double>(taken) * middle_of(i);
      kept -= taken;
    }
    return sum;
  }

  uint64_t counts_[buckets] = {};
  uint64_t count_ = 0;
};

}  // namespace nearcache::shmem
