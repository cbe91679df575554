// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "simulate/pages.h"

namespace nearcache::simulate {

std::string pages_json(const PageStudy& study) {
  using json = nlohmann::ordered_json;
  json rows = json::array();
  for (const PageResult& row : study.rows)
    rows.push_back({{"storage_bytes", row.storage_bytes},
                    {"hits", row.counters.hits},
                    {"hit_bytes", row.counters.hit_bytes},
                    {"joined_puts", row.joined_puts()},
                    {"network_gets", row.counters.network_gets},
                    {"network_puts", row.counters.network_puts},
                    {"evictions", row.counters.evictions},
                    {"ns", row.ns.typical},
                    {"ns_with_slowest", row.ns.with_slowest}});
  json traces = json::array();
  for (const RankTrace& trace : study.traces.ranks)
    traces.push_back({{"path", trace.path},
                      {"rank", trace.header.rank},
                      {"ranks", trace.header.ranks},
                      {"program", trace.header.program},
                      {"modelled", trace.header.modelled},
                      {"dropped", trace.dropped},
                      {"cut_short", trace.cut_short}});
  const PageCosts& costs = study.costs;
  const json document = {{"format", "nearcache-simulation"},
                         {"api", "OpenSHMEM"},
                         {"traces", traces},
                         {"cost",
                          {{"from", costs.from},
                           {"latency_ns", costs.get.latency_ns},
                           {"ns_per_byte", costs.get.ns_per_byte},
                           {"put_ns", costs.put_ns},
                           {"quiet_ns", costs.quiet_ns}}},
                         {"gets", study.gets},
                         {"get_bytes", study.get_bytes},
                         {"puts", study.puts},
                         {"put_bytes", study.put_bytes},
                         {"atomics", study.atomics},
                         {"quiets", study.quiets},
                         {"acquires", study.acquires},
                         {"uncached_ns", study.uncached_ns.typical},
                         {"uncached_ns_with_slowest", study.uncached_ns.with_slowest},
                         {"rows", rows}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace nearcache::simulate
