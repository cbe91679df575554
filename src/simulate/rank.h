// SPDX-License-Identifier: BSD-3-Clause

// One rank's trace as a whole: what it contains, and the walk through its records that replays and
// bounds have in common.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "cache/get/acquires.h"
#include "cache/get/entry.h"
#include "simulate/cost.h"
#include "simulate/progress.h"
#include "simulate/sample.h"
#include "simulate/target_numbers.h"
#include "simulate/trace_reader.h"

namespace nearcache::simulate {

// The findings of a first pass over a trace.
struct RankTrace {
  std::string path;
  TraceHeader header;
  std::vector<TraceWindowInfo> windows;
  std::vector<uint64_t> gets;          // by window, without gets of own memory
  std::vector<TargetNumbers> targets;  // by window
  std::vector<uint64_t> writes;  // when its calls wrote to a window; at least `write_apart` apart
  uint64_t records = 0;
  uint64_t dropped = 0;
  bool cut_short = false;
  bool coherent = false;  // a window is in this mode at some point
};

constexpr uint64_t write_apart = 100'000;  // ns

// Returns the traces of the other ranks with which a rank shares a window: these tell it that they
// write, whichever window they write to.
std::vector<const RankTrace*> met_by(const RankTrace& own, const std::vector<RankTrace>& traces);

// Returns the time of the first write in these traces after `now`, in ns of the clock common to all
// ranks; UINT64_MAX if there is none.
uint64_t next_write_in(const std::vector<const RankTrace*>& traces, uint64_t now);

// Reads the whole trace once, and adds its sampled costs to `costs`. Returns an empty string, or
// what is wrong with it.
std::string look_through(const std::string& path, RankTrace* trace, CostSamples* costs);

// The part of a trace that is replayed: which windows, in which mode, and which of their keys.
struct Selection {
  std::vector<uint64_t> window_ids;  // empty: all
  std::optional<Mode> mode;          // none: as traced
  Sample sample;
  bool strict_flush = false;  // mode transparent: assume no quiet phases

  bool has(const TraceWindowInfo& window) const;
  Mode mode_of(const TraceWindowInfo& window) const {
    return mode ? *mode : static_cast<Mode>(window.mode);
  }
};

// Holds a Part (WindowReplay or ReuseCollector) for every selected window of a rank, and passes
// each record to the parts it concerns.
template <class Part>
class RankParts {
 public:
  // `make(window, acquires)` creates the part of a window, or nullptr. `traces` are those of all
  // ranks; `trace` is one of them.
  template <class Make>
  RankParts(const std::vector<RankTrace>& traces, const RankTrace& trace,
            const Selection& selection, Make make)
      : selection_(selection), others_(met_by(trace, traces)), trace_(trace) {
    acquire(trace.header.start_ns);
    for (uint32_t at = 0; at < trace.windows.size(); ++at)
      parts_.push_back(selection.has(trace.windows[at]) ? make(at, &acquires_) : nullptr);
  }
  RankParts(const RankParts&) = delete;
  RankParts& operator=(const RankParts&) = delete;

  void event(const TraceEvent& event) {
    Part* part = event.window < parts_.size() ? parts_[event.window].get() : nullptr;
    const uint64_t now = trace_.header.start_ns + event.ns;
    // the library is told of a write before its data can be seen
    if (acquires_.quiet && now >= others_write_) {
      acquires_.quiet = false;
      acquires_.add(false);
    }
    switch (event.kind) {
      case TraceKind::get:
        if (part != nullptr && in_sample(event)) part->get(event);
        break;
      case TraceKind::write:
        if (part != nullptr) part->write(event.target, event.from, event.to);
        fetching_ = fetching_ || event.detail == static_cast<uint8_t>(TraceWrite::fetch);
        break;
      case TraceKind::sync:
        sync(part, event, now);
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
    return selection_.sample.is_all() ||
           selection_.sample.has(hash_key({get.displacement, get.target, get.layout}));
  }
  // After an acquire, windows in mode transparent serve nothing older; windows in mode coherent
  // still serve what has not changed.
  void acquire(uint64_t now) {
    acquires_.add(false);
    others_write_ = next_write_in(others_, now);
    acquires_.quiet = !selection_.strict_flush;
    fetching_ = false;
  }
  // Returns true for calls that complete gets or may open an epoch with a shared lock, since a
  // trace does not record whether a lock was exclusive. They tell nothing about other ranks'
  // writes.
  static bool tells_nothing(TraceSync kind) {
    switch (kind) {
      case TraceSync::flush:
      case TraceSync::flush_local:
      case TraceSync::unlock:
      case TraceSync::unlock_all:
      case TraceSync::lock:
      case TraceSync::request:
        return true;
      default:
        return false;
    }
  }
  void sync(Part* part, const TraceEvent& event, uint64_t now) {
    const auto kind = static_cast<TraceSync>(event.detail);
    if (kind == TraceSync::invalidate) {
      if (part == nullptr) return;
      part->invalidate();
      if (ends_at_acquires(part->mode())) acquires_.add(false);
      return;
    }
    if (part != nullptr) part->sync(kind, event.sync_target);
    if (!tells_nothing(kind) || fetching_) {
      acquire(now);
    } else if (!acquires_.quiet) {
      acquires_.add(false);
    }
  }
  void window(Part* part, const TraceEvent& event) {
    if (part == nullptr) return;
    if (event.detail == static_cast<uint8_t>(TraceWindow::freed)) part->free();
    if (event.detail == static_cast<uint8_t>(TraceWindow::mode) && !selection_.mode)
      part->set_mode(static_cast<Mode>(event.value));
  }

  const Selection selection_;
  const std::vector<const RankTrace*> others_;  // ranks that tell this one of their writes
  const RankTrace& trace_;
  Acquires acquires_;
  uint64_t others_write_ = 0;  // time of their next write after the last acquire
  bool fetching_ = false;      // a fetching operation may be outstanding
  std::vector<std::unique_ptr<Part>> parts_;
};

// One of several traces that are walked through together.
template <class Part>
struct Walked {
  const RankTrace* trace;
  RankParts<Part>* parts;
};

// Walks through the events of several traces together, in order of their times. look_through() must
// have found the traces readable. Returns an empty string, or what has gone wrong since then.
template <class Part>
std::string walk(const std::vector<Walked<Part>>& all, Progress* progress) {
  struct Place {
    const Walked<Part>* of;
    TraceReader reader;
    TraceEvent event;
    uint64_t now() const { return of->trace->header.start_ns + event.ns; }
  };
  std::vector<std::unique_ptr<Place>> places;
  for (const Walked<Part>& each : all) {
    auto place = std::make_unique<Place>(Place{&each, {}, {}});
    std::string wrong = place->reader.open(each.trace->path);
    if (!wrong.empty()) return wrong;
    if (place->reader.next(&place->event))
      places.push_back(std::move(place));
    else if (!place->reader.error().empty())
      return place->reader.error();
  }
  // a heap with the earliest event on top; ties in any order
  const auto later = [](const auto& one, const auto& other) { return one->now() > other->now(); };
  std::make_heap(places.begin(), places.end(), later);
  uint64_t count = 0;
  while (!places.empty()) {
    std::pop_heap(places.begin(), places.end(), later);
    Place& first = *places.back();
    const uint64_t next = places.size() > 1 ? places.front()->now() : UINT64_MAX;
    bool more = true;
    do {
      first.of->parts->event(first.event);
      if (++count % 65536 == 0) progress->advance(65536);
      more = first.reader.next(&first.event);
    } while (more && first.now() <= next);
    if (more) {
      std::push_heap(places.begin(), places.end(), later);
    } else {
      if (!first.reader.error().empty()) return first.reader.error();
      places.pop_back();
    }
  }
  progress->advance(count % 65536);
  return {};
}

template <class Part>
std::string walk(const RankTrace& trace, RankParts<Part>* parts, Progress* progress) {
  return walk(std::vector<Walked<Part>>{{&trace, parts}}, progress);
}

}  // namespace nearcache::simulate
