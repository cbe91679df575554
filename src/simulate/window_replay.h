// One window of one rank, driven by a trace: the library's CachedWindow, as the MPI front end
// drives it for a program. No data is moved; all decisions, and all memory but that of the data,
// are the library's.
//
// Left out is what a trace cannot tell or a simulation need not ask: how long it takes in mode
// coherent until all ranks announce their writes, that it is suspended where it gains nothing, that
// the versions of several targets are read at once; whether a target was measured to be too cheap
// for caching, the pauses of mode transparent in programs without repeats, and which request a get
// belongs to (an Rget counts as a get). A trace knows how large its own rank's window is; lines end
// there, not at the smallest window.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/memory.h"
#include "cache/get/cached_window.h"
#include "simulate/cost.h"
#include "simulate/region_versions.h"
#include "simulate/target_numbers.h"
#include "simulate/trace_reader.h"

namespace nearcache::simulate {

struct WindowSettings {
  CachingRules rules;
  Cost cost;
  uint64_t most_storage = 0;                 // adaptive: as far as storage may grow
  const RegionVersions* versions = nullptr;  // mode coherent; none: as mode transparent
};

// What came of the gets of a window. Sums, so that windows and ranks can be added up.
struct WindowResult {
  uint64_t gets = 0, bytes = 0;  // of other ranks' memory
  // of the rank's own memory: never cached, and not counted above
  uint64_t own_gets = 0;
  uint64_t hits_full = 0, hits_pending = 0, hits_partial = 0;
  uint64_t hit_bytes = 0;    // bytes served
  uint64_t whole_bytes = 0;  // bytes of gets that were served whole
  uint64_t direct = 0, conflicting = 0, capacity = 0, failing = 0, bypassed = 0;
  uint64_t evictions = 0, invalidations = 0, adaptations = 0, write_drops = 0;
  // mode coherent: of what was read before an acquire; reads of a target's versions
  uint64_t hits_kept = 0, validations = 0;
  uint64_t hits_of_others = 0;  // on what another rank of the node has fetched
  uint64_t storage_bytes = 0, index_entries = 0, stored_bytes = 0, entries = 0;  // at the end
  double fill_sum = 0;  // of looks at a storage that has been full once
  uint64_t fill_looks = 0;

  uint64_t whole_hits() const { return hits_full + hits_pending; }
  double cost_ns(const Cost& cost) const { return cost.of(gets, bytes); }
  double saved_ns(const Cost& cost) const {
    return cost.of(whole_hits(), hit_bytes) -
           cost.of(validations, validations * sizeof(VersionWords));
  }
  // Remote gets that remain, and the copies of what was served.
  double time_ns(const Cost& cost) const {
    return cost_ns(cost) - saved_ns(cost) + hit_ns(whole_hits() + hits_partial, hit_bytes);
  }
  double fill() const;
  WindowResult& operator+=(const WindowResult& other);
};

class WindowReplay {
 public:
  // `start_ns` is when the rank's trace begins; `acquires` counts the rank's; `budget` is what all
  // its caches may use together.
  WindowReplay(const TraceWindowInfo& info, const TargetNumbers& targets,
               const WindowSettings& settings, uint64_t start_ns, Acquires* acquires,
               MemoryBudget* budget);

  // What it fetches from now on is kept there. Before the first event.
  void share(std::unique_ptr<SharedCache> shared) { cached_.share(std::move(shared)); }
  void get(const TraceEvent& event);
  void sync(TraceSync kind, int64_t target);
  void write(uint32_t target, int64_t from, int64_t to);
  // `acquires` has to be counted up for mode transparent by the caller.
  void invalidate() { cached_.invalidate(); }
  void set_mode(Mode mode);
  Mode mode() const { return cached_.mode(); }
  void free();

  const WindowResult& result();
  const GetCache* cache() const { return cached_.cache(); }

 private:
  RemoteGet understand(const TraceEvent& event) const;
  bool ensure_cache();
  void keep_if_coherent();
  void validate(uint32_t target, uint32_t number, uint64_t now);
  void issue(const RemoteGet& get, const CachedWindow::Decision& decision);
  void complete(Targets targets, bool local);
  void look_at_fill();

  const TraceWindowInfo info_;
  const WindowSettings settings_;
  const TargetNumbers targets_;
  const uint64_t start_ns_;
  Acquires* acquires_;
  CachedWindow cached_;
  uint64_t kept_before_ = 0;  // hits_kept, by versions that are no more
  bool was_full_ = false;
  WindowResult result_;
};

}  // namespace nearcache::simulate
