// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/summary.h"

#include <bit>
#include <memory>
#include <unordered_map>

#include "cache/get/entry.h"
#include "simulate/key_table.h"
#include "telemetry/report.h"

namespace nearcache::simulate {
namespace {

// Collects the facts about one window of one rank during the walk through its trace.
class WindowCensus {
 public:
  void get(const TraceEvent& get, uint32_t own_rank, uint64_t now) {
    if (get.target == own_rank) {
      ++facts.own_gets;
      return;
    }
    ++facts.gets;
    facts.bytes += get.bytes;
    ++facts.outcomes[get.detail];
    const size_t size = get.bytes <= 1
                            ? 0
                            : std::min(static_cast<size_t>(std::bit_width(get.bytes - 1)),
                                       size_t{WindowFacts::size_classes - 1});
    ++facts.sizes[size];
    facts.size_bytes[size] += get.bytes;
    facts.reads.add(now);
    const uint32_t number = table_.number_of(hash_key({get.displacement, get.target, get.layout}));
    if (number == keys_.size()) keys_.emplace_back();
    ++keys_[number].times;
    keys_[number].bytes = std::max(keys_[number].bytes, get.bytes);
  }

  void own_write(uint64_t bytes, uint64_t now) {
    ++facts.own_writes;
    facts.own_write_bytes += bytes;
    facts.writes.add(now);
  }
  // A write noticed now and made at most `within` ns ago.
  void owner_write(uint64_t bytes, uint64_t within, uint64_t now) {
    ++facts.owner_writes;
    facts.owner_write_bytes += bytes;
    facts.writes.add(Span{now - std::min(now, within), now});
  }

  void finish() {
    for (const Key& key : keys_) {
      ++facts.repeats[key.times];
      facts.distinct_bytes += key.bytes;
    }
    facts.distinct_keys = keys_.size();
  }

  WindowFacts facts;

 private:
  struct Key {
    uint64_t times = 0, bytes = 0;
  };
  KeyTable table_;
  std::vector<Key> keys_;
};

class SummaryRun {
 public:
  SummaryRun(const StudyOptions& options, Summaries* summaries)
      : options_(options), summaries_(*summaries), progress_(options.show_progress, steps()) {}

  std::string run() {
    for (const RankTrace& trace : summaries_.traces.ranks) announce(trace);
    for (const RankTrace& trace : summaries_.traces.ranks) {
      std::string wrong = rank(trace);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  uint64_t steps() const {
    uint64_t records = 0;
    for (const RankTrace& trace : summaries_.traces.ranks) records += trace.records;
    return records;
  }

  void announce(const RankTrace& trace) {
    for (const TraceWindowInfo& info : trace.windows) {
      if (!options_.selection.has(info)) continue;
      const auto [place, is_new] = by_id_.try_emplace(info.id, summaries_.windows.size());
      if (is_new) summaries_.windows.emplace_back().id = info.id;
      WindowSummary& window = summaries_.windows[place->second];
      if (!info.announced) continue;
      window.announced = true;
      window.name = info.name;
      window.mode = info.mode;
      window.unit = info.unit;
      window.ranks_in_window = info.ranks;
      window.bytes += info.own_bytes;
    }
  }

  std::string rank(const RankTrace& trace) {
    TraceReader reader;
    std::string wrong = reader.open(trace.path);
    if (!wrong.empty()) return wrong;
    std::vector<std::unique_ptr<WindowCensus>> parts(trace.windows.size());
    for (size_t at = 0; at < trace.windows.size(); ++at) {
      if (options_.selection.has(trace.windows[at])) parts[at] = std::make_unique<WindowCensus>();
    }
    TraceEvent event;
    for (uint64_t count = 1; reader.next(&event); ++count) {
      note(trace, event, event.window < parts.size() ? parts[event.window].get() : nullptr);
      if (count % 65536 == 0) progress_.advance(65536);
    }
    progress_.advance(trace.records % 65536);
    for (size_t at = 0; at < parts.size(); ++at) {
      if (parts[at] != nullptr)
        add(trace.header.rank, by_id_[trace.windows[at].id], parts[at].get());
    }
    return reader.error();
  }

  void note(const RankTrace& trace, const TraceEvent& event, WindowCensus* part) {
    const uint64_t now = trace.header.start_ns + event.ns;
    summaries_.span.add(now);
    const bool is_acquire =
        event.kind == TraceKind::sync && event.detail == static_cast<uint8_t>(TraceSync::acquire);
    if (is_acquire) ++summaries_.acquires;
    if (part == nullptr || is_acquire) return;
    if (event.kind == TraceKind::get) part->get(event, trace.windows[event.window].rank, now);
    if (event.kind == TraceKind::sync) ++part->facts.syncs[event.detail];
    if (event.kind == TraceKind::write) part->own_write(event.bytes, now);
    if (event.kind == TraceKind::owner_write) part->owner_write(event.bytes, event.value, now);
  }

  void add(uint32_t rank, size_t at, WindowCensus* part) {
    part->finish();
    WindowSummary& window = summaries_.windows[at];
    window.facts += part->facts;
    window.ranks.push_back({rank, std::move(part->facts)});
  }

  const StudyOptions& options_;
  Summaries& summaries_;
  Progress progress_;
  std::unordered_map<uint64_t, size_t> by_id_;
};

}  // namespace

WindowFacts& WindowFacts::operator+=(const WindowFacts& other) {
  for (const auto field :
       {&WindowFacts::gets, &WindowFacts::bytes, &WindowFacts::own_gets,
        &WindowFacts::distinct_keys, &WindowFacts::distinct_bytes, &WindowFacts::own_writes,
        &WindowFacts::own_write_bytes, &WindowFacts::owner_writes, &WindowFacts::owner_write_bytes})
    this->*field += other.*field;
  for (const auto& [times, keys] : other.repeats) repeats[times] += keys;
  const auto add = [](auto* to, const auto& from) {
    for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
  };
  add(&sizes, other.sizes);
  add(&size_bytes, other.size_bytes);
  add(&outcomes, other.outcomes);
  add(&syncs, other.syncs);
  reads.add(other.reads);
  writes.add(other.writes);
  return *this;
}

std::string run_summary(const StudyOptions& options, Summaries* summaries) {
  std::string wrong = look_through(options, &summaries->traces);
  if (!wrong.empty()) return wrong;
  return SummaryRun(options, summaries).run();
}

}  // namespace nearcache::simulate
