// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/policy/sketch.h"

#include <algorithm>
#include <cstring>

namespace nearcache {

void Sketch::attach(void* memory, uint64_t capacity) {
  counters_.set(static_cast<uint8_t*>(memory));
  set_lines(lines_for(std::max<uint64_t>(capacity, 1)));
}

// Four gets per entry before halving. With a longer period what was popular once stays too long
// (Barnes-Hut); with a shorter one rare keys are forgotten before they return (CLaMPI's
// micro-benchmark). Both are within a point between 2 and 8.
void Sketch::set_lines(uint64_t lines) {
  lines_ = lines;
  period_ = static_cast<uint32_t>(std::min<uint64_t>(lines * 16 * 4, UINT32_MAX / 16));
}

void Sketch::clear() {
  std::memset(counters_.get(), 0, bytes());
  halved_at_ = now_;
  remembered_ = 0;
}

// A line stands for an interval of hashes: a new line takes the maxima of the old lines that
// overlap its interval.
void Sketch::resize(uint64_t capacity) {
  const uint64_t old = lines_;
  const uint64_t lines = lines_for(std::max<uint64_t>(capacity, 1));
  const auto refill = [&](uint64_t to) {
    uint8_t merged[line_bytes] = {};
    for (uint64_t from = to * old / lines; from <= ((to + 1) * old - 1) / lines; ++from) {
      const uint8_t* counters = counters_.get() + from * line_bytes;
      for (uint32_t i = 0; i < line_bytes; ++i) merged[i] = std::max(merged[i], counters[i]);
    }
    std::memcpy(counters_.get() + to * line_bytes, merged, line_bytes);
  };
  // In place: growing proceeds from the end and shrinking from the front, so no old line is
  // overwritten before it is read.
  if (lines > old) {
    for (uint64_t to = lines; to-- > 0;) refill(to);
  } else if (lines < old) {
    for (uint64_t to = 0; to < lines; ++to) refill(to);
    std::memset(counters_.get() + lines * line_bytes, 0, (old - lines) * line_bytes);
    Region::discard(counters_.get() + lines * line_bytes, (old - lines) * line_bytes);
  }
  set_lines(lines);
}

uint32_t Sketch::count(uint64_t hash) const {
  const uint8_t* counters = line(hash);
  uint32_t least = UINT8_MAX;
  for (int i = 0; i < probes; ++i) least = std::min<uint32_t>(least, counters[probe(hash, i)]);
  return least;
}

void Sketch::raise(uint64_t hash, uint32_t count) {
  const auto target = static_cast<uint8_t>(std::min<uint32_t>(count, UINT8_MAX));
  uint8_t* counters = line(hash);
  for (int i = 0; i < probes; ++i)
    counters[probe(hash, i)] = std::max(counters[probe(hash, i)], target);
}

// Several periods may have passed in a long run of hits.
void Sketch::halve() {
  const uint64_t since = now_ - halved_at_;
  const int times = static_cast<int>(std::min<uint64_t>(since / period_, 8));
  uint8_t* counters = counters_.get();
  for (uint64_t i = 0; i < bytes(); ++i) counters[i] = static_cast<uint8_t>(counters[i] >> times);
  remembered_ = static_cast<uint32_t>(std::min<uint64_t>(since + remembered_, UINT32_MAX) >> times);
  halved_at_ = now_;
}

}  // namespace nearcache
