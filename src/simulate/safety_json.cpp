// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/output_json.h"
#include "simulate/safety.h"
#include "telemetry/report.h"

namespace nearcache::simulate {
namespace {

using nlohmann::ordered_json;

ordered_json rule_json(const RuleResult& rule) {
  ordered_json json = {{"hits", rule.hits},
                       {"hit_bytes", rule.hit_bytes},
                       {"stale", rule.stale},
                       {"invalidations", rule.invalidations}};
  json["example"] = nullptr;
  if (rule.example) {
    const StaleHit& hit = *rule.example;
    json["example"] = {{"reader", hit.reader},   {"writer", hit.writer},
                       {"target", hit.target},   {"displacement", hit.displacement},
                       {"bytes", hit.bytes},     {"stored_by_owner", hit.stored_by_owner},
                       {"read_ns", hit.read_ns}, {"written_ns", hit.written_ns}};
  }
  return json;
}

}  // namespace

std::string safety_json(const Safety& safety) {
  ordered_json json = {
      {"format", "nearcache-trace-safety"}, {"version", 1}, {"nearcache", version_text()}};
  json["cost"] = cost_json(safety.traces);
  json["traces"] = traces_json(safety.traces);
  json["windows"] = ordered_json::array();
  for (const WindowSafety& window : safety.windows) {
    json["windows"].push_back({{"id", window.id},
                               {"name", text_for_json(window.name)},
                               {"mode", mode_name(static_cast<Mode>(window.mode))},
                               {"ranks", window.ranks},
                               {"traced_ranks", window.traced_ranks},
                               {"gets", window.gets},
                               {"bytes", window.bytes},
                               {"own_gets", window.own_gets},
                               {"puts", window.puts},
                               {"stores", window.stores},
                               {"writes_while_read", window.writes_while_read},
                               {"transparent", rule_json(window.transparent)},
                               {"user", rule_json(window.user)},
                               {"always", rule_json(window.always)}});
  }
  return json.dump(1) + "\n";
}

}  // namespace nearcache::simulate
