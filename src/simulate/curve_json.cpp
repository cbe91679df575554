// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/curve.h"
#include "simulate/output_json.h"
#include "telemetry/report.h"

namespace nearcache::simulate {

static nlohmann::ordered_json point_json(const CurvePoint& point) {
  return {{"storage_bytes", point.storage_bytes},
          {"cost_saved", point.cost_saved},
          {"hit_ratio", point.hit_ratio},
          {"byte_hit_ratio", point.byte_hit_ratio}};
}

std::string curves_json(const StudyOptions& options, const Curves& curves) {
  nlohmann::ordered_json json = {
      {"format", "nearcache-curve"}, {"version", 1}, {"nearcache", version_text()}};
  json["policy"] = policy_name(options.policies.front());
  json["mode"] = options.selection.mode ? mode_name(*options.selection.mode) : "as-traced";
  json["cost"] = cost_json(curves.traces);
  json["traces"] = traces_json(curves.traces);
  json["windows"] = nlohmann::ordered_json::array();
  for (const WindowCurve& curve : curves.windows) {
    const WindowContent& content = curve.content;
    nlohmann::ordered_json window = {{"id", content.id},
                                     {"name", text_for_json(content.name)},
                                     {"mode", mode_name(static_cast<Mode>(content.mode))},
                                     {"ranks", content.ranks},
                                     {"gets", content.gets},
                                     {"bytes", content.bytes},
                                     {"distinct_keys", content.distinct_keys},
                                     {"distinct_bytes", content.distinct_bytes},
                                     {"stored_bytes", content.stored_bytes},
                                     {"largest_rank_bytes", content.largest_rank_bytes},
                                     {"sample_rate", curve.sample_rate},
                                     {"infinite", point_json(curve.infinite)}};
    for (const CurvePoint& point : curve.points) window["points"].push_back(point_json(point));
    json["windows"].push_back(window);
  }
  return json.dump(1) + "\n";
}

}  // namespace nearcache::simulate
