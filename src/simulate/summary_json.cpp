// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/output_json.h"
#include "simulate/summary.h"
#include "telemetry/report.h"

namespace nearcache::simulate {
namespace {

using nlohmann::ordered_json;

constexpr const char* outcome_names[outcome_count] = {"uncached", "full",    "pending",
                                                      "partial",  "direct",  "conflicting",
                                                      "capacity", "failing", "bypassed"};
constexpr const char* sync_names[trace_syncs] = {
    "fence",      "lock",     "lock_all", "unlock",  "unlock_all", "flush",   "flush_local",
    "start",      "complete", "post",     "wait",    "win_sync",   "request", "acquire",
    "invalidate", "quiet",    "order",    "release", "write_back"};

template <size_t count>
ordered_json counts_json(const std::array<uint64_t, count>& counts,
                         const char* const (&names)[count]) {
  ordered_json json = ordered_json::object();
  for (size_t i = 0; i < count; ++i) {
    if (counts[i] != 0) json[names[i]] = counts[i];
  }
  return json;
}

ordered_json span_json(const Span& span) {
  if (span.empty()) return nullptr;
  return {{"first_ns", span.first}, {"last_ns", span.last}};
}

ordered_json facts_json(const WindowFacts& facts) {
  return {{"gets", facts.gets},
          {"bytes", facts.bytes},
          {"own_gets", facts.own_gets},
          {"distinct_keys", facts.distinct_keys},
          {"distinct_bytes", facts.distinct_bytes},
          {"own_writes", facts.own_writes},
          {"own_write_bytes", facts.own_write_bytes},
          {"owner_writes", facts.owner_writes},
          {"owner_write_bytes", facts.owner_write_bytes},
          {"read", span_json(facts.reads)},
          {"written", span_json(facts.writes)},
          {"outcomes", counts_json(facts.outcomes, outcome_names)},
          {"syncs", counts_json(facts.syncs, sync_names)}};
}

ordered_json window_json(const WindowSummary& window) {
  ordered_json json = {{"id", window.id},
                       {"name", text_for_json(window.name)},
                       {"announced", window.announced},
                       {"mode", mode_name(static_cast<Mode>(window.mode))},
                       {"unit", window.unit},
                       {"ranks_in_window", window.ranks_in_window},
                       {"memory_bytes", window.bytes}};
  json.update(facts_json(window.facts));
  json["repeats"] = ordered_json::array();
  for (const auto& [times, keys] : window.facts.repeats)
    json["repeats"].push_back({{"times", times}, {"keys", keys}});
  json["sizes"] = ordered_json::array();
  for (int power = 0; power < WindowFacts::size_classes; ++power) {
    const uint64_t gets = window.facts.sizes[static_cast<size_t>(power)];
    if (gets == 0) continue;
    json["sizes"].push_back({{"up_to_bytes", uint64_t{1} << power},
                             {"gets", gets},
                             {"bytes", window.facts.size_bytes[static_cast<size_t>(power)]}});
  }
  json["ranks"] = ordered_json::array();
  for (const RankFacts& rank : window.ranks) {
    ordered_json one = {{"rank", rank.rank}};
    one.update(facts_json(rank.facts));
    json["ranks"].push_back(one);
  }
  return json;
}

}  // namespace

std::string summary_json(const Summaries& summaries) {
  ordered_json json = {
      {"format", "nearcache-trace-summary"}, {"version", 1}, {"nearcache", version_text()}};
  json["cost"] = cost_json(summaries.traces);
  json["traces"] = traces_json(summaries.traces);
  json["span"] = span_json(summaries.span);
  json["acquires"] = summaries.acquires;
  json["windows"] = ordered_json::array();
  for (const WindowSummary& window : summaries.windows)
    json["windows"].push_back(window_json(window));
  return json.dump(1) + "\n";
}

}  // namespace nearcache::simulate
