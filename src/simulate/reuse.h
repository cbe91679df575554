// SPDX-License-Identifier: BSD-3-Clause

// Determines which gets of a window could be served by any cache: for every get, whether bytes
// fetched earlier are still valid, and since when. The bounds (bounds.h) are computed from this.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/options.h"
#include "cache/get/acquires.h"
#include "simulate/key_table.h"
#include "simulate/region_versions.h"
#include "simulate/sample.h"
#include "simulate/trace_reader.h"
#include "simulate/validity.h"

namespace nearcache::simulate {

// Two successive gets of one key, between which its bytes may be kept.
struct Interval {
  uint32_t from, to;  // numbers of the gets among the cacheable ones
  uint32_t head;      // bytes that, if kept, need not be fetched again
  bool whole;         // they are all the bytes of the second get
};

// What is served if a key is kept from its first use on.
struct KeyUse {
  uint64_t hits = 0;       // gets served completely
  uint64_t hit_bytes = 0;  // bytes served, including partial hits
  uint32_t bytes = 0;      // the largest get
};

struct Reuse {
  uint64_t gets = 0, bytes = 0;  // gets of other ranks' memory, cacheable or not
  uint64_t own_gets = 0;         // gets of the rank's own memory
  uint32_t moments = 0;          // cacheable gets
  uint64_t distinct_bytes = 0;
  std::vector<Interval> intervals;
  std::vector<KeyUse> keys;
  // What an infinite cache serves.
  uint64_t hits = 0, hit_bytes = 0;
  bool needs_no_storage = false;  // mode transparent: repeats are served by the get in flight

  // Returns the distinct bytes as stored: each key takes at least `least` bytes, rounded up to
  // granules.
  uint64_t stored_bytes(uint64_t least) const;
};

class ReuseCollector {
 public:
  struct Settings {
    Mode mode = Mode::always;
    uint64_t max_get = 4 << 20;  // larger gets are never cached
    Sample sample;
    bool intervals = true;                     // collect intervals; otherwise only sums
    const RegionVersions* versions = nullptr;  // mode coherent; null: as in mode transparent
    uint64_t start_ns = 0;                     // start of the trace
  };
  ReuseCollector(const TraceWindowInfo& info, const Settings& settings, Acquires* acquires);

  void get(const TraceEvent& get);
  void write(uint32_t target, int64_t from, int64_t to);
  void invalidate() { ++generation_; }
  void sync(TraceSync, int64_t) {}
  void free() { ++generation_; }
  void set_mode(Mode mode);
  Mode mode() const { return mode_; }

  // Returns the result and leaves the collector empty.
  Reuse take();

 private:
  struct KeyState {
    uint64_t generation = 0;
    uint64_t time = 0;     // of the last get, counted in gets and writes
    uint32_t number = 0;   // of the last get
    uint32_t acquire = 0;  // number of acquires at the last get
    uint64_t ns = 0;       // time of the last get
    // bytes of the last get; of the largest get since the key became valid; 0: never requested
    uint32_t last = 0, most = 0;
  };

  uint64_t generation() const {
    return generation_ << 32 | (mode_ == Mode::transparent ? acquires_->now() : 0);
  }
  bool kept(const TraceEvent& get, const KeyState& state) const;
  uint64_t head_of(const TraceEvent& get, uint64_t have) const;
  void reuse(const TraceEvent& get, uint32_t key, const KeyState& before);

  const TraceWindowInfo info_;
  Mode mode_;
  const Settings settings_;
  Acquires* acquires_;
  uint64_t generation_ = 0;
  uint64_t time_ = 0;
  uint32_t acquire_ = 0;      // number of acquires at the last get
  uint64_t acquired_ns_ = 0;  // time of the first get since that acquire
  KeyTable table_;
  std::vector<KeyState> states_;
  WrittenRanges written_;
  Reuse reuse_;
};

}  // namespace nearcache::simulate
