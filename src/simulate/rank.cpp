// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/rank.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace nearcache::simulate {

static constexpr uint32_t most_ranks_in_a_row = 1 << 16;

std::string look_through(const std::string& path, RankTrace* trace, CostSamples* costs) {
  TraceReader reader;
  std::string wrong = reader.open(path);
  if (!wrong.empty()) return wrong;
  *trace = RankTrace();
  trace->path = path;
  trace->header = reader.header();
  TraceEvent event;
  std::vector<std::set<uint32_t>> named;
  while (reader.next(&event)) {
    ++trace->records;
    if (event.kind == TraceKind::get || event.kind == TraceKind::write) {
      if (event.window >= named.size()) named.resize(event.window + 1);
      if (reader.windows()[event.window].ranks > most_ranks_in_a_row)
        named[event.window].insert(event.target);
    }
    if (event.kind == TraceKind::write) {
      const uint64_t now = trace->header.start_ns + event.ns;
      if (trace->writes.empty() || now - trace->writes.back() >= write_apart)
        trace->writes.push_back(now);
    }
    if (event.kind == TraceKind::cost && event.value > 0 &&
        event.detail == static_cast<uint8_t>(TraceCost::get))
      costs->add(event.bytes, static_cast<double>(event.value));
    if (event.kind == TraceKind::window &&
        (event.detail == static_cast<uint8_t>(TraceWindow::created) ||
         event.detail == static_cast<uint8_t>(TraceWindow::mode)))
      trace->coherent = trace->coherent || event.value == static_cast<uint64_t>(Mode::coherent);
    if (event.kind != TraceKind::get) continue;
    if (event.window >= trace->gets.size()) trace->gets.resize(event.window + 1);
    trace->gets[event.window] += event.target != reader.windows()[event.window].rank;
  }
  trace->windows = reader.windows();
  trace->gets.resize(trace->windows.size());
  named.resize(trace->windows.size());
  for (size_t at = 0; at < trace->windows.size(); ++at) {
    const uint32_t ranks = trace->windows[at].ranks;
    trace->targets.push_back(ranks > most_ranks_in_a_row
                                 ? TargetNumbers({named[at].begin(), named[at].end()})
                                 : TargetNumbers(ranks));
  }
  trace->dropped = reader.dropped();
  trace->cut_short = reader.cut_short();
  return reader.error();
}

std::vector<const RankTrace*> met_by(const RankTrace& own, const std::vector<RankTrace>& traces) {
  std::unordered_set<uint64_t> ids;
  for (const TraceWindowInfo& window : own.windows) ids.insert(window.id);
  std::vector<const RankTrace*> met;
  for (const RankTrace& trace : traces) {
    if (&trace != &own &&
        std::any_of(trace.windows.begin(), trace.windows.end(),
                    [&](const TraceWindowInfo& window) { return ids.contains(window.id); }))
      met.push_back(&trace);
  }
  return met;
}

uint64_t next_write_in(const std::vector<const RankTrace*>& traces, uint64_t now) {
  uint64_t first = UINT64_MAX;
  for (const RankTrace* trace : traces) {
    const auto next = std::upper_bound(trace->writes.begin(), trace->writes.end(), now);
    if (next != trace->writes.end()) first = std::min(first, *next);
  }
  return first;
}

bool Selection::has(const TraceWindowInfo& window) const {
  return window_ids.empty() ||
         std::find(window_ids.begin(), window_ids.end(), window.id) != window_ids.end();
}

}  // namespace nearcache::simulate
