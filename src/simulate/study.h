// SPDX-License-Identifier: BSD-3-Clause

// A simulation: replays traces for each policy, storage and index size, and computes the bounds of
// bounds.h for each storage size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/bounds.h"
#include "simulate/cost.h"
#include "simulate/rank.h"
#include "simulate/region_versions.h"
#include "simulate/reuse.h"
#include "simulate/window_replay.h"

namespace nearcache::simulate {

// A size that is either given or depends on the window.
struct Amount {
  std::string text;  // as the user wrote it
  bool relative = false;
  double share = 0;    // relative: fraction of the distinct bytes (or keys) of a rank's window
  uint64_t value = 0;  // if not relative

  uint64_t of(uint64_t whole) const {
    return relative ? static_cast<uint64_t>(share * static_cast<double>(whole)) : value;
  }
};

struct StudyOptions {
  std::vector<std::string> traces;
  std::vector<PolicyKind> policies;
  std::vector<Amount> storages, indexes;
  bool storages_given = false;  // given by the user
  Selection selection;
  bool adaptive = false;
  // Number of consecutive ranks that form a node and share one cache per window.
  uint32_t ranks_per_node = 1;
  bool by_host = false;  // ranks whose traces name the same host form a node
  bool shares() const { return by_host || ranks_per_node > 1; }
  bool bounds = true;
  bool show_progress = false;
  std::optional<Cost> model;  // none: measured in the traces
  Options library;            // all other options of the library, default or as given
};

// All traces after the first pass, and the cost of gets derived from them.
struct Traces {
  std::vector<RankTrace> ranks;
  Cost cost;
  std::string cost_from;  // "trace", "model" or "assumed"
  // measured: the quickest tenth of the samples, the mean, and that with slow ones in full
  Cost cost_least, cost_measured, cost_with_slowest;
  uint32_t cost_samples = 0;
  VersionsById versions;  // only if a window is replayed in mode coherent
};

// What there is to cache in a window, summed over ranks.
struct WindowContent {
  uint64_t id = 0;
  std::string name;
  uint8_t mode = 0;    // as traced, at creation
  uint32_t ranks = 0;  // number of traces that contain it
  uint64_t gets = 0, bytes = 0, own_gets = 0;
  uint64_t distinct_keys = 0, distinct_bytes = 0;
  uint64_t stored_bytes = 0;  // distinct bytes, rounded up to the storage's granules
  // Of the rank with the most: distinct bytes, and the storage needed for all of them, including
  // the lines around small gets.
  uint64_t largest_rank_bytes = 0, largest_rank_room = 0;

  // Adds what one rank uses of it, except for the storage that this takes.
  void add(const Reuse& reuse);
};

struct StudyRow {
  PolicyKind policy;
  size_t storage, index;       // indices of the amounts in StudyOptions
  uint64_t storage_bytes = 0;  // initial, summed over ranks and windows
  uint64_t index_entries = 0;
  WindowResult total;
  std::vector<WindowResult> windows;  // in the order of Study::windows
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
  // fraction of the keys from which the bounds of the longest trace were computed
  double bounds_rate = 1;
  uint64_t gets = 0, bytes = 0;  // in all windows
};

// Both return an empty string, or an error message.
std::string look_through(const StudyOptions& options, Traces* traces);
std::string run_study(const StudyOptions& options, Study* study);

WindowSettings window_settings(const StudyOptions& options, const Traces& traces,
                               const TraceWindowInfo& window, PolicyKind policy, uint64_t storage,
                               uint64_t index);
// Reads what windows in mode coherent need. Returns an empty string, or an error message.
std::string read_versions(const StudyOptions& options, Traces* traces);
// Computes a Reuse for every window of a rank; it is empty if the window is not selected.
std::string collect_reuse(const StudyOptions& options, const Traces& traces, const RankTrace& trace,
                          const Sample& sample, bool intervals, Progress* progress,
                          std::vector<Reuse>* reuse);
// Returns the index in `windows` of the window with this id, which is appended if it is new.
size_t content_of(const TraceWindowInfo& info, std::vector<WindowContent>* windows);

}  // namespace nearcache::simulate
