// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/output_json.h"

namespace nearcache::simulate {

using nlohmann::ordered_json;

std::string text_for_json(const std::string& text) {
  const std::string quoted =
      ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return ordered_json::parse(quoted).get<std::string>();
}

ordered_json cost_json(const Traces& traces) {
  const auto line = [](const Cost& cost) {
    return ordered_json{{"latency_ns", cost.latency_ns}, {"ns_per_byte", cost.ns_per_byte}};
  };
  ordered_json json = line(traces.cost);
  json["hit"] = line({hit_cost.latency_ns, hit_cost.ns_per_byte});
  json["from"] = traces.cost_from;
  json["samples"] = traces.cost_samples;
  json["measured"] = json["least"] = nullptr;
  if (traces.cost_samples == 0) return json;
  json["measured"] = line(traces.cost_measured);
  json["least"] = line(traces.cost_least);
  return json;
}

ordered_json traces_json(const Traces& traces) {
  ordered_json json = ordered_json::array();
  for (const RankTrace& trace : traces.ranks) {
    json.push_back({{"file", text_for_json(trace.path)},
                    {"rank", trace.header.rank},
                    {"ranks", trace.header.ranks},
                    {"start_ns", trace.header.start_ns},
                    {"host", text_for_json(trace.header.host)},
                    {"program", text_for_json(trace.header.program)},
                    {"library", text_for_json(trace.header.library)},
                    {"modelled", text_for_json(trace.header.modelled)},
                    {"records", trace.records},
                    {"dropped", trace.dropped},
                    {"cut_short", trace.cut_short}});
  }
  return json;
}

}  // namespace nearcache::simulate
