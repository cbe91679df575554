// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/safety.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "cache/get/entry.h"
#include "simulate/key_table.h"
#include "simulate/window_writes.h"
#include "simulate/written_pages.h"

namespace nearcache::simulate {
namespace {

struct Shared : WindowWrites {
  WrittenPages pages;
};

// Returns true for calls at which a user of mode `user` may invalidate, because something may have
// been learned from other ranks.
bool begins_phase(TraceSync kind) {
  switch (kind) {
    case TraceSync::fence:
    case TraceSync::acquire:
    case TraceSync::wait:
    case TraceSync::lock_all:
    case TraceSync::win_sync:
    case TraceSync::start:
      return true;
    default:
      return false;
  }
}

// When other ranks wrote to a window. Decides whether an invalidation is due.
class ForeignWrites {
 public:
  ForeignWrites(const std::vector<TimedWrite>& writes, uint32_t self) {
    for (const TimedWrite& write : writes) {
      if (write.writer != self) times_.emplace_back(write.since, write.until);
    }
    std::sort(times_.begin(), times_.end());
    uint64_t latest = 0;
    for (auto& time : times_) latest = time.second = std::max(latest, time.second);
  }
  bool any(uint64_t after, uint64_t now) const {
    const auto end = std::upper_bound(times_.begin(), times_.end(),
                                      std::pair<uint64_t, uint64_t>(now, UINT64_MAX));
    return end != times_.begin() && std::prev(end)->second >= after;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> times_;  // beginning; latest end of all up to here
};

// The second pass: the gets of one rank and window against caches without limits.
class WindowCheck {
 public:
  WindowCheck(const Shared& shared, uint32_t self, uint64_t origin_ns)
      : shared_(shared), self_(self), origin_ns_(origin_ns), foreign_(shared.writes, self) {}

  void get(const TraceEvent& get, uint64_t from_ns, uint64_t to_ns, uint64_t epoch) {
    if (get.target == self_) {
      ++own_gets;
      return;
    }
    ++gets;
    bytes += get.bytes;
    const uint32_t number = table_.number_of(hash_key({get.displacement, get.target, get.layout}));
    if (number == keys_.size()) keys_.emplace_back();
    Key& key = keys_[number];
    const bool cached = key.bytes >= get.bytes;
    if (cached && key.epoch == epoch) note(&transparent, get);
    if (cached) judge(&always, get, key.always_ns, to_ns);
    const bool kept = cached && key.user_ns >= invalidated_ns_;
    if (kept) judge(&user, get, key.user_ns, to_ns);
    if (!cached) key.always_ns = from_ns;
    if (!kept) key.user_ns = from_ns;
    key.epoch = epoch;
    key.bytes = std::max(key.bytes, get.bytes);
  }

  void sync(TraceSync kind, uint64_t now) {
    if (!begins_phase(kind) || !foreign_.any(invalidated_ns_, now)) return;
    invalidated_ns_ = now;
    ++user.invalidations;
  }

  uint64_t gets = 0, bytes = 0, own_gets = 0;
  RuleResult transparent, user, always;

 private:
  struct Key {
    uint64_t bytes = 0;
    uint64_t always_ns = 0, user_ns = 0, epoch = 0;
  };

  static void note(RuleResult* rule, const TraceEvent& get) {
    ++rule->hits;
    rule->hit_bytes += get.bytes;
  }
  void judge(RuleResult* rule, const TraceEvent& get, uint64_t cached_ns, uint64_t now) {
    note(rule, get);
    const TimedWrite* write =
        shared_.pages.between(get.target, get.from, get.to, self_, cached_ns, now);
    if (write == nullptr) return;
    ++rule->stale;
    if (rule->example) return;
    const auto since = [this](uint64_t ns) { return ns - std::min(ns, origin_ns_); };
    rule->example = StaleHit{self_,     write->writer,   get.target, get.displacement,
                             get.bytes, write->by_owner, since(now), since(write->since)};
  }

  const Shared& shared_;
  const uint32_t self_;
  const uint64_t origin_ns_;
  const ForeignWrites foreign_;
  uint64_t invalidated_ns_ = 0;
  KeyTable table_;
  std::vector<Key> keys_;
};

// Reads a trace ahead of another reader, to find out what follows a get; so gets need not be held
// back until then.
class TimesAhead {
 public:
  std::string open(const std::string& path) {
    std::string wrong = reader_.open(path);
    reader_.show_times();
    return wrong;
  }

  // Returns the latest time at which event `number` (counted from 1), recorded at `now`, may have
  // happened: the next time in the trace, or the beginning of a phase if that comes first.
  uint64_t after(uint64_t number, uint64_t now) {
    if (number < met_at_) return until_;
    until_ = now;
    for (TraceEvent event; reader_.next(&event);) {
      if (++read_ <= number) continue;
      const uint64_t then = reader_.header().start_ns + event.ns;
      if (then <= now && !is_phase(event)) continue;
      until_ = std::max(now, then);
      met_at_ = read_;
      return until_;
    }
    met_at_ = UINT64_MAX;
    return until_;
  }

  static bool is_phase(const TraceEvent& event) {
    return event.kind == TraceKind::sync && begins_phase(static_cast<TraceSync>(event.detail));
  }

 private:
  TraceReader reader_;
  uint64_t read_ = 0;
  uint64_t met_at_ = 0, until_ = 0;
};

// Replays one rank's trace.
class RankCheck {
 public:
  RankCheck(const RankTrace& trace, std::vector<std::unique_ptr<WindowCheck>>* windows)
      : trace_(trace), windows_(*windows) {}

  std::string open() { return ahead_.open(trace_.path); }

  void event(const TraceEvent& event) {
    ++number_;
    const uint64_t now = trace_.header.start_ns + event.ns;
    if (event.kind == TraceKind::get && event.window < windows_.size() &&
        windows_[event.window] != nullptr)
      windows_[event.window]->get(event, now, ahead_.after(number_, now), epoch_);
    if (event.kind != TraceKind::sync ||
        event.detail == static_cast<uint8_t>(TraceSync::invalidate))
      return;
    ++epoch_;
    if (!TimesAhead::is_phase(event)) return;
    const auto kind = static_cast<TraceSync>(event.detail);
    for (size_t at = 0; at < windows_.size(); ++at) {
      if (windows_[at] != nullptr && (kind == TraceSync::acquire || event.window == at))
        windows_[at]->sync(kind, now);
    }
  }

 private:
  const RankTrace& trace_;
  std::vector<std::unique_ptr<WindowCheck>>& windows_;
  TimesAhead ahead_;
  uint64_t number_ = 0, epoch_ = 1;
};

void add(RuleResult* to, const RuleResult& from) {
  to->hits += from.hits;
  to->hit_bytes += from.hit_bytes;
  to->stale += from.stale;
  to->invalidations = std::max(to->invalidations, from.invalidations);
  if (!to->example) to->example = from.example;
}

class SafetyRun {
 public:
  SafetyRun(const StudyOptions& options, Safety* safety)
      : options_(options), safety_(*safety), progress_(options.show_progress, steps()) {}

  std::string run() {
    for (const RankTrace& trace : safety_.traces.ranks) announce(trace);
    for (const RankTrace& trace : safety_.traces.ranks) {
      std::string wrong = collect(trace);
      if (!wrong.empty()) return wrong;
    }
    for (size_t at = 0; at < shared_.size(); ++at) index_writes(at);
    for (const RankTrace& trace : safety_.traces.ranks) {
      std::string wrong = check(trace);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  uint64_t steps() const {
    uint64_t records = 0;
    for (const RankTrace& trace : safety_.traces.ranks) records += 2 * trace.records;
    return records;
  }

  void announce(const RankTrace& trace) {
    origin_ns_ = std::min(origin_ns_, trace.header.start_ns);
    for (const TraceWindowInfo& info : trace.windows) {
      if (!options_.selection.has(info)) continue;
      const auto [place, is_new] = by_id_.try_emplace(info.id, safety_.windows.size());
      if (is_new) {
        safety_.windows.emplace_back().id = info.id;
        shared_.push_back(std::make_unique<Shared>());
      }
      WindowSafety& window = safety_.windows[place->second];
      ++window.traced_ranks;
      if (!info.announced) continue;
      window.name = info.name;
      window.mode = info.mode;
      window.ranks = info.ranks;
    }
  }

  // Returns our data for the trace's windows; null for those not selected.
  std::vector<Shared*> shared_of(const RankTrace& trace) {
    std::vector<Shared*> shared;
    shared.reserve(trace.windows.size());
    for (const TraceWindowInfo& info : trace.windows)
      shared.push_back(options_.selection.has(info) ? shared_[by_id_[info.id]].get() : nullptr);
    return shared;
  }

  template <class Each>
  std::string walk_through(const RankTrace& trace, Each each) {
    TraceReader reader;
    std::string wrong = reader.open(trace.path);
    if (!wrong.empty()) return wrong;
    reader.show_times();
    TraceEvent event;
    for (uint64_t count = 1; reader.next(&event); ++count) {
      each(event);
      if (count % 65536 == 0) progress_.advance(65536);
    }
    return reader.error();
  }

  std::string collect(const RankTrace& trace) {
    const std::vector<Shared*> shared = shared_of(trace);
    WriteCollector collector(trace, {shared.begin(), shared.end()});
    return walk_through(trace, [&](const TraceEvent& event) { collector.event(event); });
  }

  // Indexes the writes that can make a read stale: not those that ended before the first read or
  // began after the last.
  void index_writes(size_t at) {
    Shared& shared = *shared_[at];
    WindowSafety& window = safety_.windows[at];
    std::vector<TimedWrite> matter;
    for (const TimedWrite& write : shared.writes) {
      ++(write.by_owner ? window.stores : window.puts);
      if (write.until < shared.first_get || write.since > shared.last_get) continue;
      matter.push_back(write);
      shared.pages.add(write);
    }
    window.writes_while_read = matter.size();
    shared.writes = std::move(matter);
  }

  std::string check(const RankTrace& trace) {
    std::vector<std::unique_ptr<WindowCheck>> checks;
    const std::vector<Shared*> shared = shared_of(trace);
    for (size_t at = 0; at < shared.size(); ++at)
      checks.push_back(
          shared[at] == nullptr
              ? nullptr
              : std::make_unique<WindowCheck>(*shared[at], trace.windows[at].rank, origin_ns_));
    RankCheck rank(trace, &checks);
    std::string wrong = rank.open();
    if (wrong.empty())
      wrong = walk_through(trace, [&](const TraceEvent& event) { rank.event(event); });
    for (size_t at = 0; at < checks.size(); ++at) {
      if (checks[at] == nullptr) continue;
      WindowSafety& window = safety_.windows[by_id_[trace.windows[at].id]];
      window.gets += checks[at]->gets;
      window.bytes += checks[at]->bytes;
      window.own_gets += checks[at]->own_gets;
      add(&window.transparent, checks[at]->transparent);
      add(&window.user, checks[at]->user);
      add(&window.always, checks[at]->always);
    }
    return wrong;
  }

  const StudyOptions& options_;
  Safety& safety_;
  Progress progress_;
  std::unordered_map<uint64_t, size_t> by_id_;
  std::vector<std::unique_ptr<Shared>> shared_;
  uint64_t origin_ns_ = UINT64_MAX;
};

}  // namespace

std::string run_safety(const StudyOptions& options, Safety* safety) {
  std::string wrong = look_through(options, &safety->traces);
  if (!wrong.empty()) return wrong;
  return SafetyRun(options, safety).run();
}

}  // namespace nearcache::simulate
