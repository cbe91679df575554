// SPDX-License-Identifier: BSD-3-Clause

// Byte ranges in flight to other PEs that no page holds: puts of evicted pages, direct puts,
// atomics.
//
// Implemented as a hashed set of lines, which may have false positives (each costs a needless quiet
// or fence), plus a few long ranges. Cleared whenever the context is quiet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nearcache {

class InFlight {
 public:
  void clear() {
    if (!any_) return;
    std::memset(bits_, 0, sizeof bits_);
    ranges_ = 0;
    any_ = false;
  }
  bool any() const { return any_; }

  void add(int pe, uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    any_ = true;
    if (end - begin > longest_by_line) {
      add_range(pe, begin, end);
      return;
    }
    for (uint64_t line = begin / line_bytes; line <= (end - 1) / line_bytes; ++line) {
      const size_t bit = bit_of(pe, line);
      bits_[bit / 64] |= uint64_t{1} << (bit % 64);
    }
  }

  // Returns true if everything recorded in `other` is also recorded here. For tests.
  bool covers(const InFlight& other) const {
    for (size_t i = 0; i < bit_count / 64; ++i)
      if ((other.bits_[i] & ~bits_[i]) != 0) return false;
    return std::all_of(other.range_, other.range_ + other.ranges_, [&](const Range& theirs) {
      return std::any_of(range_, range_ + ranges_, [&](const Range& ours) {
        return (ours.pe == theirs.pe || ours.pe == every_pe) && ours.begin <= theirs.begin &&
               theirs.end <= ours.end;
      });
    });
  }

  // Returns false only if nothing in [begin, end) of `pe` is in flight.
  bool may_overlap(int pe, uint64_t begin, uint64_t end) const {
    if (!any_ || begin >= end) return false;
    for (int i = 0; i < ranges_; ++i)
      if ((range_[i].pe == pe || range_[i].pe == every_pe) && begin < range_[i].end &&
          range_[i].begin < end)
        return true;
    // with this many lines, one of the bits is likely to be set
    if (end - begin > line_bytes * bit_count / 8) return true;
    for (uint64_t line = begin / line_bytes; line <= (end - 1) / line_bytes; ++line) {
      const size_t bit = bit_of(pe, line);
      if ((bits_[bit / 64] >> (bit % 64) & 1) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr uint64_t line_bytes = 64;
  static constexpr uint64_t longest_by_line = 4096;
  // 4 KiB: one false positive in 50 queries with 650 small puts in flight
  static constexpr size_t bit_count = 32768;
  static constexpr int most_ranges = 8;
  static constexpr int every_pe = -1;

  struct Range {
    int pe;
    uint64_t begin, end;
  };

  static size_t bit_of(int pe, uint64_t line) {
    const uint64_t hash = (line + (static_cast<uint64_t>(pe) << 40)) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(hash >> 49);
  }
  static_assert(bit_count == size_t{1} << (64 - 49));

  // If the table is full, the last range is extended to include the new one, and applies to every
  // PE if their PEs differ.
  void add_range(int pe, uint64_t begin, uint64_t end) {
    for (int i = 0; i < ranges_; ++i)
      if ((range_[i].pe == pe || range_[i].pe == every_pe) && range_[i].begin <= begin &&
          end <= range_[i].end)
        return;
    if (ranges_ < most_ranges) {
      range_[ranges_++] = {pe, begin, end};
      return;
    }
    Range& last = range_[most_ranges - 1];
    if (last.pe != pe) last.pe = every_pe;
    last.begin = std::min(last.begin, begin);
    last.end = std::max(last.end, end);
  }

  uint64_t bits_[bit_count / 64] = {};
  Range range_[most_ranges] = {};
  int ranges_ = 0;
  bool any_ = false;
};

}  // namespace nearcache
