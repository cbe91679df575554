// One window of one rank: what the MPI front end does with its gets and synchronisation (src/mpi/window*.cpp), done to the
// library's engine without MPI. No data is moved; all decisions, and all memory but that of the data, are the library's.
//
// Left out are what a trace cannot tell or a simulation need not ask: whether a target was measured to be too cheap for caching, the
// pauses of mode transparent in programs without repeats, and which request a get belongs to (an Rget counts as a get).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cache/get/get_cache.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/region.h"
#include "simulate/cost.h"
#include "simulate/trace_reader.h"

namespace nearcache::simulate {

struct WindowSettings {
  GetCacheSettings cache;
  Mode mode = Mode::always;
  Cost cost;
  uint64_t max_get = 4 << 20;
  bool skip_cheap = true;             // a miss is stored only if that seems worth the copy
  uint64_t most_storage = 0;          // adaptive: as far as storage may grow
};

// What came of the gets of a window. Sums, so that windows and ranks can be added up.
struct WindowResult {
  uint64_t gets = 0, bytes = 0;                  // of other ranks' memory
  uint64_t own_gets = 0;                         // of the rank's own memory: never cached, and not counted above
  uint64_t hits_full = 0, hits_pending = 0, hits_partial = 0;
  uint64_t hit_bytes = 0;                        // bytes served
  uint64_t whole_bytes = 0;                      // bytes of gets that were served whole
  uint64_t direct = 0, conflicting = 0, capacity = 0, failing = 0, bypassed = 0;
  uint64_t evictions = 0, invalidations = 0, adaptations = 0, write_drops = 0;
  uint64_t storage_bytes = 0, index_entries = 0, stored_bytes = 0, entries = 0;  // at the end
  double fill_sum = 0;                           // of looks at a storage that has been full once
  uint64_t fill_looks = 0;

  uint64_t whole_hits() const { return hits_full + hits_pending; }
  double cost_ns(const Cost& cost) const { return cost.of(gets, bytes); }
  double saved_ns(const Cost& cost) const { return cost.of(whole_hits(), hit_bytes); }
  // Remote gets that remain, and the copies of what was served.
  double time_ns(const Cost& cost) const {
    return cost_ns(cost) - saved_ns(cost) + hit_ns(whole_hits() + hits_partial, hit_bytes);
  }
  double fill() const;
  WindowResult& operator+=(const WindowResult& other);
};

class WindowReplay {
 public:
  // `acquires` counts the rank's; `budget` is what all its caches may use together.
  WindowReplay(const TraceWindowInfo& info, const WindowSettings& settings, const uint32_t* acquires, MemoryBudget* budget);

  void get(const TraceEvent& get);
  void sync(TraceSync kind, int64_t target);
  void write(uint32_t target, int64_t from, int64_t to);
  // `acquires` has to be counted up for mode transparent by the caller.
  void invalidate();
  void set_mode(Mode mode);
  Mode mode() const { return mode_; }
  void free();

  const WindowResult& result();
  const GetCache* cache() const { return cache_; }

 private:
  static constexpr uint32_t no_record = UINT32_MAX;

  // A get under way.
  struct Record {
    EntryId entry = no_entry;
    uint32_t write_seq = 0;
    uint64_t serial = 0;
    uint64_t start = 0, bytes = 0;  // the part of the entry that it fetches
  };
  struct Target {
    std::vector<uint32_t> pending;  // records, in order of issue
    bool writes = false;            // own writes are outstanding
    uint32_t writes_since = 0;      // number of the last own write before those
  };
  struct Access {
    Key key;
    uint64_t hash, bytes;
    int64_t from, to;
    bool contiguous;
  };

  Access understand(const TraceEvent& get) const;
  bool ensure_cache();
  void drop_cache();
  void update_generation() {
    if (mode_ == Mode::transparent) cache_->set_generation(*acquires_);
  }
  uint64_t usable_head(const Access& access, uint64_t have) const;
  void partial(const Access& access, const GetCache::Lookup& found);
  void join(const Access& access, const GetCache::Lookup& found);
  void issue(const Access& access, uint64_t head, EntryId entry);
  EntryId find_room(const Access& access, uint64_t head, EntryId entry, uint32_t record);
  EntryId store(const Access& access, uint32_t record);
  bool overlaps_outstanding_write(const Access& access);
  uint32_t take_record();
  void complete(uint32_t record);
  void complete_all();
  void count_hit(uint64_t* kind, uint64_t bytes);
  void look_at_fill();

  const TraceWindowInfo info_;
  const WindowSettings settings_;
  const uint32_t* acquires_;
  MemoryBudget* budget_;
  Mode mode_;
  Region region_;
  GetCache* cache_ = nullptr;
  std::unordered_map<uint32_t, Target> targets_;  // those with something outstanding
  std::vector<Record> records_;
  std::vector<uint32_t> free_records_;
  uint64_t serials_ = 0;
  bool was_full_ = false;
  uint64_t evictions_before_ = 0, write_drops_before_ = 0;  // of caches that were dropped
  WindowResult result_;
};

}  // namespace nearcache::simulate
