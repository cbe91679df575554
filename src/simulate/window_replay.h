// SPDX-License-Identifier: BSD-3-Clause

// Replays one window of one rank from a trace: drives the library's CachedWindow as the MPI front
// end does for a program. No data is moved; all decisions, and all memory except for the data, are
// the library's.
//
// Some effects are left out because a trace does not show them or a simulation does not need them:
// in mode coherent, the time until all ranks announce their writes, the suspension where the mode
// gains nothing, and reading the versions of several targets at once; in mode transparent, pauses
// in programs without repeats; in any mode, targets measured to be too cheap for caching, and the
// request to which a get belongs (an Rget counts as a get). A trace knows only the size of its own
// rank's window; lines end there rather than at the smallest window.
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
  uint64_t most_storage = 0;                 // adaptive: limit of the storage
  const RegionVersions* versions = nullptr;  // mode coherent; null: as in mode transparent
};

// The outcomes of a window's gets. All members are sums, so that windows and ranks can be added up.
struct WindowResult {
  uint64_t gets = 0, bytes = 0;  // gets of other ranks' memory
  // gets of the rank's own memory: never cached, and not counted above
  uint64_t own_gets = 0;
  uint64_t hits_full = 0, hits_pending = 0, hits_partial = 0;
  uint64_t hit_bytes = 0;    // bytes served
  uint64_t whole_bytes = 0;  // bytes of gets that were served completely
  uint64_t direct = 0, conflicting = 0, capacity = 0, failing = 0, bypassed = 0;
  uint64_t evictions = 0, invalidations = 0, adaptations = 0, write_drops = 0;
  // mode coherent: hits on data read before an acquire; reads of a target's versions
  uint64_t hits_kept = 0, validations = 0;
  uint64_t hits_of_others = 0;  // on data that another rank of the node fetched
  uint64_t storage_bytes = 0, index_entries = 0, stored_bytes = 0, entries = 0;  // at the end
  double fill_sum = 0;  // sum of samples taken since the storage was first full
  uint64_t fill_looks = 0;

  uint64_t whole_hits() const { return hits_full + hits_pending; }
  double cost_ns(const Cost& cost) const { return cost.of(gets, bytes); }
  double saved_ns(const Cost& cost) const {
    return cost.of(whole_hits(), hit_bytes) -
           cost.of(validations, validations * sizeof(VersionWords));
  }
  // Returns the time of the remaining remote gets and of the copies of what was served.
  double time_ns(const Cost& cost) const {
    return cost_ns(cost) - saved_ns(cost) + hit_ns(whole_hits() + hits_partial, hit_bytes);
  }
  double fill() const;
  WindowResult& operator+=(const WindowResult& other);
};

class WindowReplay {
 public:
  // `start_ns` is the start of the rank's trace; `acquires` counts the rank's acquires; `budget` is
  // the memory that all its caches may use together.
  WindowReplay(const TraceWindowInfo& info, const TargetNumbers& targets,
               const WindowSettings& settings, uint64_t start_ns, Acquires* acquires,
               MemoryBudget* budget);

  // From now on, keeps what it fetches in `shared`. Must be called before the first event.
  void share(std::unique_ptr<SharedCache> shared) { cached_.share(std::move(shared)); }
  void get(const TraceEvent& event);
  void sync(TraceSync kind, int64_t target);
  void write(uint32_t target, int64_t from, int64_t to);
  // In mode transparent, the caller must also count up `acquires`.
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
  uint64_t kept_before_ = 0;  // hits_kept by versions that no longer exist
  bool was_full_ = false;
  WindowResult result_;
};

}  // namespace nearcache::simulate
