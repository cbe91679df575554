// One rank's trace as a whole: what is in it, and the walk through its records that replays and
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

// What a first look at a trace finds.
struct RankTrace {
  std::string path;
  TraceHeader header;
  std::vector<TraceWindowInfo> windows;
  std::vector<uint64_t> gets;          // by window, those of the own rank left out
  std::vector<TargetNumbers> targets;  // by window
  std::vector<uint64_t> writes;  // when it wrote to a window by a call; no two within `write_apart`
  uint64_t records = 0;
  uint64_t dropped = 0;
  bool cut_short = false;
  bool coherent = false;  // a window is in this mode at some time
};

constexpr uint64_t write_apart = 100'000;  // ns

// The first write of another rank after `now`, in ns of all ranks' clock; UINT64_MAX for none.
uint64_t next_write_of_others(const std::vector<RankTrace>& traces, const RankTrace& own,
                              uint64_t now);

// Reads the whole trace once; its sampled costs are added to `costs`. Returns an empty string, or
// what is wrong with it.
std::string look_through(const std::string& path, RankTrace* trace, CostSamples* costs);

// What of a trace is played: which windows, by which rule, which of their keys.
struct Selection {
  std::vector<uint64_t> window_ids;  // empty: all
  std::optional<Mode> mode;          // none: as traced
  Sample sample;
  bool strict_flush = false;  // mode transparent: there are no quiet phases

  bool has(const TraceWindowInfo& window) const;
  Mode mode_of(const TraceWindowInfo& window) const {
    return mode ? *mode : static_cast<Mode>(window.mode);
  }
};

// A Part (WindowReplay, ReuseCollector) for every chosen window of a rank, and who gets which
// record.
template <class Part>
class RankParts {
 public:
  // `make(window, acquires)` builds the part of a window, nullptr for none. `traces` are all
  // ranks', `trace` is one of them.
  template <class Make>
  RankParts(const std::vector<RankTrace>& traces, const RankTrace& trace,
            const Selection& selection, Make make)
      : selection_(selection), traces_(traces), trace_(trace) {
    acquire(trace.header.start_ns);
    for (uint32_t at = 0; at < trace.windows.size(); ++at)
      parts_.push_back(selection.has(trace.windows[at]) ? make(at, &acquires_) : nullptr);
  }
  RankParts(const RankParts&) = delete;
  RankParts& operator=(const RankParts&) = delete;

  void event(const TraceEvent& event) {
    Part* part = event.window < parts_.size() ? parts_[event.window].get() : nullptr;
    const uint64_t now = trace_.header.start_ns + event.ns;
    // the library hears of it before what is written can be known
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
  // Windows in mode transparent serve nothing older; those in mode coherent, what is as it was.
  void acquire(uint64_t now) {
    acquires_.add(false);
    others_write_ = next_write_of_others(traces_, trace_, now);
    acquires_.quiet = !selection_.strict_flush;
    fetching_ = false;
  }
  // What completes gets, or opens an epoch that a shared lock may: whether lock was exclusive a
  // trace does not tell.
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
  const std::vector<RankTrace>& traces_;
  const RankTrace& trace_;
  Acquires acquires_;
  uint64_t others_write_ = 0;  // the next time after the last acquire
  bool fetching_ = false;      // a fetching operation may be outstanding
  std::vector<std::unique_ptr<Part>> parts_;
};

// One of several traces that are walked through together.
template <class Part>
struct Walked {
  const RankTrace* trace;
  RankParts<Part>* parts;
};

// Walks through traces that look_through has found readable, event by event of all of them in the
// order of their times. Returns an empty string, or what has happened to one since.
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
  // the earliest one is on top; of equals, any
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
