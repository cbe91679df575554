// SPDX-License-Identifier: BSD-3-Clause

// A small memory of how often keys were requested, so that an entry's past survives its eviction.
//
// A count-min sketch with conservative update and four 8-bit counters per index entry; the three
// counters of a key are in one cache line. Counters are halved every `period` gets (including hits,
// because the ages they are compared with count all gets), so that the past fades. Without the
// sketch, Barnes-Hut at theta 1.0 and a tenth of its storage saves 6% of the cost instead of 77%
// (policy study).
#pragma once

#include <cstdint>

#include "base/region.h"

namespace nearcache {

class Sketch {
 public:
  static uint64_t bytes_for(uint64_t capacity) { return lines_for(capacity) * line_bytes; }

  // pre: `memory` is zero and has room for the largest capacity ever passed to resize().
  void attach(void* memory, uint64_t capacity);
  // Changes the size and keeps the counts; keys that come to share counters get the larger ones.
  void resize(uint64_t capacity);
  void clear();
  uint64_t bytes() const { return lines_ * line_bytes; }

  uint32_t count(uint64_t hash) const;
  void add(uint64_t hash, uint32_t times) { raise(hash, count(hash) + times); }
  // Raises the count of a key to at least `count`.
  void raise(uint64_t hash, uint32_t count);

  // Reports that `now` gets have passed since the beginning; halves the counters every `period`
  // gets. Returns true if it did.
  bool advance(uint64_t now) {
    now_ = now;
    if (now - halved_at_ < period_) return false;
    halve();
    return true;
  }
  // Returns how many gets the counters look back on.
  uint32_t memory_span() const { return static_cast<uint32_t>(now_ - halved_at_) + remembered_; }
  uint32_t period() const { return period_; }

 private:
  static constexpr uint32_t line_bytes = 64;
  static constexpr int probes = 3;
  static uint64_t lines_for(uint64_t capacity) { return (capacity + 15) / 16; }

  uint8_t* line(uint64_t hash) const {
    return counters_.get() + ((static_cast<uint32_t>(hash >> 20) * lines_) >> 32) * line_bytes;
  }
  static uint32_t probe(uint64_t hash, int i) {
    return static_cast<uint32_t>((hash * 0x2545f4914f6cdd1du) >> (64 - 6 * (i + 1))) & 63;
  }
  void set_lines(uint64_t lines);
  void halve();

  Relative<uint8_t> counters_;
  uint64_t lines_ = 0;
  uint32_t period_ = 0;
  uint64_t now_ = 0, halved_at_ = 0;  // in gets
  uint32_t remembered_ = 0;           // gets before `halved_at_` that the counters still reflect
};

}  // namespace nearcache
