// SPDX-License-Identifier: BSD-3-Clause

// What the cache has learned about when keys are requested again: RATE's estimate of hits per get.
//
// A key that was requested again h times in T gets is expected (h + 1) / (T + 1/r) times per get,
// where r is the rate at which keys of its size are requested for the second time: the Bayesian
// estimate for Poisson arrivals whose rates are themselves exponentially distributed with mean r.
// Two things are learned on the way.
//
// r by size. Every key that was requested once, cached or not, waits for its second request; r is
// the number of second requests divided by the gets that keys waited. A key stops waiting when the
// sketch has forgotten its count of one. Sizes are classified by powers of two. Each class is drawn
// towards the straight line through all of them (log rate over log size), and rates are
// interpolated between classes: high degrees make large adjacency lists popular, and without this
// the cache of an LCC run is late to notice.
//
// Recency. Arrivals are seldom Poisson: a key that has not been requested for a while may be
// finished with. So entries are grouped by h and by how many of their expected gaps have passed
// since the last hit, and the estimate of each group is corrected by the ratio of its observed hits
// to its expected hits. One hit in eight is sampled; expectations come from examining a random
// entry at every miss. The correction may only fall with idle time (pooled adjacent violators):
// just after a hit of a cycle nothing is due for a while, but evicting then loses what is used in
// every cycle (Barnes-Hut: 11 points).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace nearcache {

// What is known of one key at one moment.
struct Situation {
  uint64_t bytes;
  uint32_t hits;  // times it was requested again
  uint32_t age;   // gets over which these were counted
  uint32_t idle;  // gets since its last request
};

class ReuseRates {
 public:
  ReuseRates() { refresh(0); }

  // Record the request of a key that is not remembered, and the second request of a key.
  void first(uint64_t bytes, uint32_t now) { ++waiting(bytes, now).keys; }
  void second(uint64_t bytes, uint32_t now);
  // Forgets the keys that wait: the sketch was halved, and with it their counts of one.
  void forget(uint32_t now);

  // Returns the expected hits per get.
  float rate(const Situation& at) const {
    const float expected = uncorrected(at);
    return expected * correction_[row_of(at)][column_of(at, expected)];
  }
  // Record that `weight` entries were hit in situation `at`, and that entries were in situation
  // `at` for a total of `gets` gets.
  void hit(const Situation& at, float weight) {
    hits_[row_of(at)][column_of(at, uncorrected(at))] += weight;
  }
  void exposed(const Situation& at, float gets) {
    const float expected = uncorrected(at);
    expected_[row_of(at)][column_of(at, expected)] += gets * expected;
  }

  // Called at every miss: derives the estimates from the counts from time to time.
  void miss(uint32_t now) {
    if (++misses_ % 64 == 0) refresh(now);
  }

  // Returns 1/r: how many gets a key of this size is expected to wait for its second request.
  float second_wait(uint64_t bytes) const {
    const float at = size_position(bytes);
    const auto below = static_cast<int>(at);
    return second_wait_[below] +
           (at - static_cast<float>(below)) * (second_wait_[below + 1] - second_wait_[below]);
  }

 private:
  // one class around each power of two that a size may have, and one more to interpolate to
  static constexpr int sizes = 34;
  static constexpr int rows = 6;     // hits 0, 1, 2-3, 4-7, 8-15, more
  static constexpr int columns = 8;  // idle for less than 1/8, 1/4, ... 8 expected gaps, or longer

  struct SizeClass {
    float keys = 0;    // keys waiting for their second request
    float waited = 0;  // gets that keys waited, in total
    float seconds = 0;
    uint32_t counted_at = 0;
  };

  // log2 of the size, linearly interpolated between powers of two.
  static float size_position(uint64_t bytes) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(bytes | 1)));
    return std::min(static_cast<float>(bits) * (1.0f / (1 << 23)) - 127,
                    static_cast<float>(sizes - 2));
  }
  static int binary_logarithm(float value) {
    return static_cast<int>(std::bit_cast<uint32_t>(value) >> 23) - 127;
  }

  float uncorrected(const Situation& at) const {
    return (static_cast<float>(at.hits) + 1) / (static_cast<float>(at.age) + second_wait(at.bytes));
  }
  static int row_of(const Situation& at) {
    return std::min(static_cast<int>(std::bit_width(at.hits)), rows - 1);
  }
  static int column_of(const Situation& at, float expected) {
    return std::clamp(binary_logarithm(static_cast<float>(at.idle) * expected) + 4, 0, columns - 1);
  }

  SizeClass& waiting(uint64_t bytes, uint32_t now);
  static void count_waiting(SizeClass* size, uint32_t now);
  void refresh(uint32_t now);
  void refresh_second_waits();
  void refresh_corrections(int row);

  SizeClass sizes_[sizes];
  float hits_[rows][columns] = {}, expected_[rows][columns] = {};
  float second_wait_[sizes];
  float correction_[rows][columns];
  uint32_t misses_ = 0;
};

}  // namespace nearcache
