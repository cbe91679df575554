// One rank's trace as a whole: what is in it, and the walk through its records that replays and bounds have in common.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/get/acquires.h"
#include "cache/get/entry.h"
#include "base/options.h"
#include "simulate/cost.h"
#include "simulate/progress.h"
#include "simulate/sample.h"
#include "simulate/target_numbers.h"
#include "simulate/trace_reader.h"

namespace nearcache::simulate {

// What a first look at a trace finds.
struct RankTrace {
  std::string path;
  TraceHeader header;
  std::vector<TraceWindowInfo> windows;
  std::vector<uint64_t> gets;  // by window, those of the own rank left out
  std::vector<TargetNumbers> targets;  // by window
  uint64_t records = 0;
  uint64_t dropped = 0;
  bool cut_short = false;
};

// Reads the whole trace once; its sampled costs are added to `costs`. Returns an empty string, or what is wrong with it.
std::string look_through(const std::string& path, RankTrace* trace, CostSamples* costs);

// What of a trace is played: which windows, by which rule, which of their keys.
struct Selection {
  std::vector<uint64_t> window_ids;  // empty: all
  std::optional<Mode> mode;          // none: as traced
  Sample sample;

  bool has(const TraceWindowInfo& window) const;
  Mode mode_of(const TraceWindowInfo& window) const { return mode ? *mode : static_cast<Mode>(window.mode); }
};

// A Part (WindowReplay, ReuseCollector) for every chosen window of a rank, and who gets which record.
template <class Part>
class RankParts {
 public:
  // `make(window, acquires)` builds the part of a window, nullptr for none.
  template <class Make>
  RankParts(const RankTrace& trace, const Selection& selection, Make make) : selection_(selection) {
    for (uint32_t at = 0; at < trace.windows.size(); ++at)
      parts_.push_back(selection.has(trace.windows[at]) ? make(at, &acquires_) : nullptr);
  }
  RankParts(const RankParts&) = delete;
  RankParts& operator=(const RankParts&) = delete;

  void event(const TraceEvent& event) {
    Part* part = event.window < parts_.size() ? parts_[event.window].get() : nullptr;
    switch (event.kind) {
      case TraceKind::get:
        if (part != nullptr && in_sample(event)) part->get(event);
        break;
      case TraceKind::write:
        if (part != nullptr) part->write(event.target, event.from, event.to);
        break;
      case TraceKind::sync:
        sync(part, event);
        break;
      case TraceKind::window:
        window(part, event);
        break;
      default:
        break;
    }
  }
  Part* part(size_t window) { return parts_[window].get(); }

 private:
  bool in_sample(const TraceEvent& get) const {
    return selection_.sample.is_all() || selection_.sample.has(hash_key({get.displacement, get.target, get.layout}));
  }
  // Every synchronisation may let the program learn of others' writes: windows in mode transparent serve nothing older.
  void sync(Part* part, const TraceEvent& event) {
    const auto kind = static_cast<TraceSync>(event.detail);
    if (kind == TraceSync::invalidate) {
      if (part == nullptr) return;
      part->invalidate();
      if (part->mode() == Mode::transparent) acquires_.add(false);
      return;
    }
    if (part != nullptr) part->sync(kind, event.sync_target);
    acquires_.add(false);
  }
  void window(Part* part, const TraceEvent& event) {
    if (part == nullptr) return;
    if (event.detail == static_cast<uint8_t>(TraceWindow::freed)) part->free();
    if (event.detail == static_cast<uint8_t>(TraceWindow::mode) && !selection_.mode) part->set_mode(static_cast<Mode>(event.value));
  }

  const Selection selection_;
  Acquires acquires_;
  std::vector<std::unique_ptr<Part>> parts_;
};

// Walks through a trace that look_through has found readable. Returns an empty string, or what has happened to it since.
template <class Part>
std::string walk(const RankTrace& trace, RankParts<Part>* parts, Progress* progress) {
  TraceReader reader;
  std::string wrong = reader.open(trace.path);
  if (!wrong.empty()) return wrong;
  TraceEvent event;
  for (uint64_t count = 0; reader.next(&event); ++count) {
    parts->event(event);
    if (count % 65536 == 65535) progress->advance(65536);
  }
  progress->advance(trace.records % 65536);
  return reader.error();
}

}  // namespace nearcache::simulate
