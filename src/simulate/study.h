// A simulation: traces, by policy, storage and index; for each storage also the bounds of bounds.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/bounds.h"
#include "simulate/cost.h"
#include "simulate/rank.h"
#include "simulate/region_versions.h"
#include "simulate/window_replay.h"

namespace nearcache::simulate {

// A size that is given, or that depends on the window.
struct Amount {
  std::string text;  // as the user wrote it
  bool relative = false;
  double share = 0;    // relative: of the distinct bytes, or keys, of a rank's window
  uint64_t value = 0;  // otherwise

  uint64_t of(uint64_t whole) const {
    return relative ? static_cast<uint64_t>(share * static_cast<double>(whole)) : value;
  }
};

struct StudyOptions {
  std::vector<std::string> traces;
  std::vector<PolicyKind> policies;
  std::vector<Amount> storages, indexes;
  bool storages_given = false;  // by the user
  Selection selection;
  bool adaptive = false;
  // Ranks of a node, in the order of their numbers, that have one cache of a window together.
  uint32_t ranks_per_node = 1;
  bool by_host = false;  // those whose traces name the same host do
  bool shares() const { return by_host || ranks_per_node > 1; }
  bool bounds = true;
  bool show_progress = false;
  std::optional<Cost> model;  // none: from the traces
  Options library;            // all else of the library, at its defaults or as given
};

// All traces, looked through, and what gets cost by them.
struct Traces {
  std::vector<RankTrace> ranks;
  Cost cost;
  std::string cost_from;  // "trace", "model" or "assumed"
  // what was measured: of the quickest tenth of the samples, in the mean
  Cost cost_least, cost_measured;
  uint32_t cost_samples = 0;
  VersionsById versions;  // read where a window is replayed in mode coherent
};

// What of one window, summed over ranks, there is to cache.
struct WindowContent {
  uint64_t id = 0;
  std::string name;
  uint8_t mode = 0;    // as traced, at its creation
  uint32_t ranks = 0;  // traces that have it
  uint64_t gets = 0, bytes = 0, own_gets = 0;
  uint64_t distinct_keys = 0, distinct_bytes = 0;
  uint64_t stored_bytes = 0;  // distinct bytes, in the granules that storage has
  // Of the rank that has most: distinct bytes, and the storage for all of them, with the lines
  // around small gets.
  uint64_t largest_rank_bytes = 0, largest_rank_room = 0;
};

struct StudyRow {
  PolicyKind policy;
  size_t storage, index;       // numbers of the amounts
  uint64_t storage_bytes = 0;  // at the start, summed over ranks and windows
  uint64_t index_entries = 0;
  WindowResult total;
  std::vector<WindowResult> windows;  // as Study::windows
};

struct StudyBounds {
  size_t storage;
  uint64_t storage_bytes = 0;
  Bound infinite, best_fixed, clairvoyant;
};

struct Study {
  Traces traces;
  std::vector<WindowContent> windows;
  std::vector<StudyRow> rows;       // by storage, index, policy
  std::vector<StudyBounds> bounds;  // by storage
  // share of the keys that the bounds were computed from, of the longest trace
  double bounds_rate = 1;
  uint64_t gets = 0, bytes = 0;  // of all windows
};

// Returns an empty string, or what is wrong.
std::string look_through(const StudyOptions& options, Traces* traces);
std::string run_study(const StudyOptions& options, Study* study);

WindowSettings window_settings(const StudyOptions& options, const Traces& traces,
                               const TraceWindowInfo& window, PolicyKind policy, uint64_t storage,
                               uint64_t index);
// What is needed for windows in mode coherent. Returns an empty string, or what is wrong.
std::string read_versions(const StudyOptions& options, Traces* traces);
// One Reuse for every window of a rank; empty where it is not selected.
std::string collect_reuse(const StudyOptions& options, const Traces& traces, const RankTrace& trace,
                          const Sample& sample, bool intervals, Progress* progress,
                          std::vector<Reuse>* reuse);
// Windows of all ranks by id, in the order in which they are met.
size_t content_of(const TraceWindowInfo& info, std::vector<WindowContent>* windows);

}  // namespace nearcache::simulate
