#include "simulate/rank.h"

#include <algorithm>

namespace nearcache::simulate {

std::string look_through(const std::string& path, RankTrace* trace, CostModel* costs) {
  TraceReader reader;
  std::string wrong = reader.open(path);
  if (!wrong.empty()) return wrong;
  *trace = RankTrace();
  trace->path = path;
  trace->header = reader.header();
  TraceEvent event;
  while (reader.next(&event)) {
    ++trace->records;
    if (event.kind == TraceKind::cost && event.value > 0) costs->sample(event.bytes, static_cast<double>(event.value));
    if (event.kind != TraceKind::get) continue;
    if (event.window >= trace->gets.size()) trace->gets.resize(event.window + 1);
    trace->gets[event.window] += event.target != reader.windows()[event.window].rank;
  }
  trace->windows = reader.windows();
  trace->gets.resize(trace->windows.size());
  trace->dropped = reader.dropped();
  trace->cut_short = reader.cut_short();
  return reader.error();
}

bool Selection::has(const TraceWindowInfo& window) const {
  return window_ids.empty() || std::find(window_ids.begin(), window_ids.end(), window.id) != window_ids.end();
}

}  // namespace nearcache::simulate
