// SPDX-License-Identifier: BSD-3-Clause

// Detects streams of small gets that miss. If lines follow each other, they become longer. If gets
// are at equal distances, the next places are fetched along with the requested one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "cache/get/lines.h"

namespace nearcache {

// Further places worth fetching: `places` of them, at multiples of `stride` from the requested one.
// None if `places` is 0.
struct Ahead {
  int64_t stride = 0;
  uint32_t places = 0;
};

class Streams {
 public:
  static constexpr uint64_t longest_line = 4096;
  static constexpr uint32_t most_places = 8;
  static constexpr int64_t longest_stride = 1 << 20;  // those shorter than a line are left to lines

  // Reports that a small get of byte `at` missed. Returns the places to fetch ahead: one from the
  // fourth equal distance on, then twice as many each time. They are assumed to be fetched.
  Ahead missed(uint32_t target, int64_t at) {
    ++misses_;
    for (Stride& seen : strides_) {
      if (seen.run == 0 || seen.target != target || at - seen.last != seen.stride) continue;
      if (seen.run < sure) {
        ++seen.run;
        seen.kept_until = misses_;
        seen.last = at;
        return {};
      }
      seen.places = std::min(std::max(2 * seen.places, 1u), most_places);
      seen.kept_until = misses_ + patience;
      seen.last = at + seen.stride * static_cast<int64_t>(seen.places);
      return {seen.stride, seen.places};
    }
    for (Stride& seen : strides_) {
      const int64_t distance = at - seen.last;
      if (seen.kept_until == 0 || seen.run > 0 || seen.target != target || !is_stride(distance))
        continue;
      seen = {target, 1, 0, at, distance, misses_};
      return {};
    }
    *std::ranges::min_element(strides_, {}, &Stride::kept_until) = {target, 0, 0, at, 0, misses_};
    return {};
  }

  // Called before a line [from, to) is fetched. Returns where it should end: a line that begins
  // where the last one of its stream ended is twice as long.
  int64_t line(uint32_t target, int64_t from, int64_t to) {
    for (Line& seen : lines_) {
      if (seen.target != target || from > seen.end ||
          seen.end - from >= static_cast<int64_t>(Lines::most_get) || seen.bytes == 0)
        continue;
      seen.bytes =
          std::max(std::min(2 * seen.bytes, static_cast<int64_t>(longest_line)), to - from);
      seen.end = from + seen.bytes;
      return seen.end;
    }
    lines_[next_line_++ % lines_.size()] = {target, to, to - from};
    return to;
  }

 private:
  static constexpr uint32_t sure = 3;       // equal distances
  static constexpr uint64_t patience = 64;  // other misses that a stride survives
  static bool is_stride(int64_t distance) {
    return std::abs(distance) > static_cast<int64_t>(Lines::longest) &&
           std::abs(distance) <= longest_stride;
  }

  struct Stride {
    uint32_t target = 0;
    uint32_t run = 0;     // equal distances so far
    uint32_t places = 0;  // number fetched ahead the last time
    int64_t last = 0, stride = 0;
    uint64_t kept_until = 0;  // the lowest is replaced; 0: not in use
  };
  struct Line {
    uint32_t target = 0;
    int64_t end = 0, bytes = 0;  // of the last line; 0 bytes: none
  };
  std::array<Stride, 4> strides_{};
  std::array<Line, 4> lines_{};
  uint64_t misses_ = 0;
  uint32_t next_line_ = 0;
};

}  // namespace nearcache
