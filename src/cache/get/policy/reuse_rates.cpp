// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/policy/reuse_rates.h"

#include <cmath>

namespace nearcache {
namespace {

// until something is known: a second request within a thousand gets
constexpr float first_guess = 1e-3f;
// second requests that give a size class the same weight as the line through all classes
constexpr float line_weight = 50;
constexpr float slope_doubt = 64;  // holds the slope at zero until several sizes give evidence
// hits that give a group the same weight as the assumption that the estimate is right
constexpr float group_weight = 16;
// hits after which the past is halved, since a program may change
constexpr float most_counted = 2000;

}  // namespace

void ReuseRates::count_waiting(SizeClass* size, uint32_t now) {
  size->waited += size->keys * static_cast<float>(now - size->counted_at);
  size->counted_at = now;
}

ReuseRates::SizeClass& ReuseRates::waiting(uint64_t bytes, uint32_t now) {
  SizeClass& size = sizes_[static_cast<int>(size_position(bytes) + 0.5f)];
  count_waiting(&size, now);
  return size;
}

void ReuseRates::second(uint64_t bytes, uint32_t now) {
  SizeClass& size = waiting(bytes, now);
  if (size.keys < 1) return;  // a count of two, halved: it waited before the last halving
  --size.keys;
  ++size.seconds;
}

void ReuseRates::forget(uint32_t now) {
  for (SizeClass& size : sizes_) {
    count_waiting(&size, now);
    size.keys = 0;
  }
}

// Weighted least squares of log rate over log size; then each class is placed between its own rate
// and the line.
void ReuseRates::refresh_second_waits() {
  float seconds = 1, waited = 1 / first_guess, centre = 0;
  for (int i = 0; i < sizes; ++i) {
    seconds += sizes_[i].seconds;
    waited += sizes_[i].waited;
    centre += sizes_[i].seconds * static_cast<float>(i);
  }
  centre /= seconds;
  const float level = std::log2(seconds / waited);
  float weight = 4, x_sum = 0, y_sum = 4 * level, xx_sum = slope_doubt, xy_sum = 0;
  for (int i = 0; i < sizes; ++i) {
    const SizeClass& size = sizes_[i];
    if (size.seconds < 1 || size.waited <= 0) continue;
    const float x = static_cast<float>(i) - centre, y = std::log2(size.seconds / size.waited);
    weight += size.seconds;
    x_sum += size.seconds * x;
    y_sum += size.seconds * y;
    xx_sum += size.seconds * x * x;
    xy_sum += size.seconds * x * y;
  }
  const float slope = (weight * xy_sum - x_sum * y_sum) / (weight * xx_sum - x_sum * x_sum);
  const float at_centre = (y_sum - slope * x_sum) / weight;
  for (int i = 0; i < sizes; ++i) {
    const float line =
        std::exp2(std::clamp(at_centre + slope * (static_cast<float>(i) - centre), -30.0f, -1.0f));
    second_wait_[i] = (sizes_[i].waited + line_weight / line) / (sizes_[i].seconds + line_weight);
  }
  if (seconds < most_counted) return;
  for (SizeClass& size : sizes_) size.seconds /= 2, size.waited /= 2;
}

// Pooled adjacent violators: a group whose correction is higher than that of the group before it,
// which is less idle, is merged with that group.
void ReuseRates::refresh_corrections(int row) {
  float hits[columns], expected[columns], all = 0;
  int length[columns], pools = 0;
  for (int i = 0; i < columns; ++i) {
    all += hits_[row][i];
    hits[pools] = hits_[row][i] + group_weight;
    expected[pools] = expected_[row][i] + group_weight;
    length[pools++] = 1;
    for (;
         pools > 1 && hits[pools - 2] * expected[pools - 1] < hits[pools - 1] * expected[pools - 2];
         --pools) {
      hits[pools - 2] += hits[pools - 1];
      expected[pools - 2] += expected[pools - 1];
      length[pools - 2] += length[pools - 1];
    }
  }
  float* to = correction_[row];
  for (int i = 0; i < pools; ++i) to = std::fill_n(to, length[i], hits[i] / expected[i]);
  if (all < most_counted) return;
  for (int i = 0; i < columns; ++i) hits_[row][i] /= 2, expected_[row][i] /= 2;
}

void ReuseRates::refresh(uint32_t now) {
  for (SizeClass& size : sizes_) count_waiting(&size, now);
  refresh_second_waits();
  for (int row = 0; row < rows; ++row) refresh_corrections(row);
}

}  // namespace nearcache
