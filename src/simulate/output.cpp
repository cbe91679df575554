// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "simulate/output_json.h"
#include "telemetry/report.h"
#include "telemetry/window_id.h"

namespace nearcache::simulate {
namespace {

using nlohmann::ordered_json;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(uint64_t part, uint64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

// The ratios that rows of policies and of bounds have in common.
struct Shares {
  double cost_saved, hits, bytes;
};

Shares shares_of(const StudyRow& row, const Study& study) {
  const Cost& cost = study.traces.cost;
  return {ratio(row.total.saved_ns(cost), row.total.cost_ns(cost)),
          ratio(row.total.whole_hits(), row.total.gets),
          ratio(row.total.hit_bytes, row.total.bytes)};
}

Shares shares_of(const Bound& bound, const Study& study) {
  const Cost& cost = study.traces.cost;
  return {ratio(bound.saved_ns(cost), cost.of(study.gets, study.bytes)),
          ratio(bound.hits, study.gets), ratio(bound.hit_bytes, study.bytes)};
}

double bound_time_ns(const Bound& bound, const Study& study) {
  const Cost& cost = study.traces.cost;
  return cost.of(study.gets, study.bytes) - bound.saved_ns(cost) +
         hit_ns(bound.hits, bound.hit_bytes);
}

std::string time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.1f} us", ns / 1e3);
}

std::string bytes_text(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= uint64_t{1} << 30) return fmt::format("{:.2f} GiB", value / (1 << 30));
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", value / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:.1f} KiB", value / (1 << 10));
  return fmt::format("{} B", bytes);
}

// Replaces the control characters in names, which come from files and which a terminal would take
// for commands.
std::string text_for_terminal(const std::string& name) {
  std::string text = text_for_json(name);
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool c1 = byte == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;  // U+0080 on
    if (c1) text.erase(at, 1);
    if (c1 || byte < 0x20 || byte == 0x7f) text[at] = '?';
  }
  return text;
}

// Calls each() for the three bounds of one storage size, with the names that all outputs use.
template <class Each>
void each_bound(const StudyBounds& bounds, Each each) {
  each("best fixed", "best_fixed", bounds.best_fixed);
  each("clairvoyant", "clairvoyant", bounds.clairvoyant);
  each("infinite", "infinite", bounds.infinite);
}

std::string head_text(const StudyOptions& options, const Study& study) {
  const Traces& traces = study.traces;
  std::string text = fmt::format(
      "{} trace{}, {} gets of {} window{}; a get costs {:.0f} ns + {:.4g} ns/B ({})\n",
      traces.ranks.size(), traces.ranks.size() == 1 ? "" : "s", study.gets, study.windows.size(),
      study.windows.size() == 1 ? "" : "s", traces.cost.latency_ns, traces.cost.ns_per_byte,
      traces.cost_from == "trace"   ? fmt::format("fitted to {} measured gets", traces.cost_samples)
      : traces.cost_from == "model" ? "--model"
                                    : "assumed: the trace has measured none");
  if (options.shares())
    text +=
        fmt::format("{} have one cache of a window, as large as theirs would be together\n",
                    options.by_host ? "the ranks of a host"
                                    : fmt::format("{} ranks of a node", options.ranks_per_node));
  for (const WindowContent& window : study.windows) {
    const Mode mode = options.selection.mode.value_or(static_cast<Mode>(window.mode));
    text +=
        fmt::format("window {}{}: mode {}, {} gets, {} distinct of {} together, {} rank{}\n",
                    window_label(static_cast<int64_t>(window.id)),
                    window.name.empty() ? "" : " " + text_for_terminal(window.name),
                    mode_name(mode), window.gets, window.distinct_keys,
                    bytes_text(window.distinct_bytes), window.ranks, window.ranks == 1 ? "" : "s");
    if (mode == Mode::off)
      text += fmt::format(
          "window {} was traced in mode off, so nothing is cached: --mode says by which rule to "
          "replay it\n",
          window_label(static_cast<int64_t>(window.id)));
  }
  return text;
}

ordered_json window_json(const WindowContent& window) {
  return {{"id", window.id},
          {"name", text_for_json(window.name)},
          {"mode", mode_name(static_cast<Mode>(window.mode))},
          {"ranks", window.ranks},
          {"gets", window.gets},
          {"bytes", window.bytes},
          {"own_gets", window.own_gets},
          {"distinct_keys", window.distinct_keys},
          {"distinct_bytes", window.distinct_bytes}};
}

ordered_json result_json(const WindowResult& result, const Cost& cost) {
  return {{"cost_saved", ratio(result.saved_ns(cost), result.cost_ns(cost))},
          {"hit_ratio", ratio(result.whole_hits(), result.gets)},
          {"byte_hit_ratio", ratio(result.hit_bytes, result.bytes)},
          {"fill", result.fill()},
          {"uncached_ns", result.cost_ns(cost)},
          {"time_ns", result.time_ns(cost)},
          {"gets", result.gets},
          {"bytes", result.bytes},
          {"hits_full", result.hits_full},
          {"hits_pending", result.hits_pending},
          {"hits_partial", result.hits_partial},
          {"hit_bytes", result.hit_bytes},
          {"direct", result.direct},
          {"conflicting", result.conflicting},
          {"capacity", result.capacity},
          {"failing", result.failing},
          {"bypassed", result.bypassed},
          {"evictions", result.evictions},
          {"invalidations", result.invalidations},
          {"write_drops", result.write_drops},
          {"hits_kept", result.hits_kept},
          {"validations", result.validations},
          {"hits_of_others", result.hits_of_others},
          {"adaptations", result.adaptations},
          {"end_storage_bytes", result.storage_bytes},
          {"end_index_entries", result.index_entries},
          {"end_stored_bytes", result.stored_bytes},
          {"end_entries", result.entries}};
}

ordered_json row_json(const StudyOptions& options, const Study& study, const StudyRow& row) {
  ordered_json json = {
      {"policy", policy_name(row.policy)},  {"storage", options.storages[row.storage].text},
      {"storage_bytes", row.storage_bytes}, {"index", options.indexes[row.index].text},
      {"index_entries", row.index_entries}, {"adaptive", options.adaptive}};
  json.update(result_json(row.total, study.traces.cost));
  for (size_t at = 0; at < row.windows.size(); ++at) {
    ordered_json window = {{"id", study.windows[at].id}};
    window.update(result_json(row.windows[at], study.traces.cost));
    json["windows"].push_back(window);
  }
  return json;
}

ordered_json bounds_json(const StudyOptions& options, const Study& study,
                         const StudyBounds& bounds) {
  ordered_json json = {{"storage", options.storages[bounds.storage].text},
                       {"storage_bytes", bounds.storage_bytes}};
  each_bound(bounds, [&](const char*, const char* name, const Bound& bound) {
    const Shares shares = shares_of(bound, study);
    json[name] = {{"cost_saved", shares.cost_saved},
                  {"hit_ratio", shares.hits},
                  {"byte_hit_ratio", shares.bytes},
                  {"time_ns", bound_time_ns(bound, study)}};
  });
  return json;
}

}  // namespace

// Returns the first trace that cannot be of the same run as an earlier one, and why; an empty
// string if there is none.
static std::string note_on_runs(const Traces& traces) {
  std::map<uint32_t, const RankTrace*> by_rank;
  for (const RankTrace& trace : traces.ranks) {
    const TraceHeader& header = trace.header;
    const TraceHeader& first = traces.ranks.front().header;
    if (header.ranks != first.ranks)
      return fmt::format("{}: of a run of {} ranks, {} of one of {}: results are sums of both\n",
                         text_for_terminal(trace.path), header.ranks,
                         text_for_terminal(traces.ranks.front().path), first.ranks);
    const auto [other, is_new] = by_rank.try_emplace(header.rank, &trace);
    if (!is_new)
      return fmt::format("{}: of rank {}, as {} is: results are sums of both\n",
                         text_for_terminal(trace.path), header.rank,
                         text_for_terminal(other->second->path));
  }
  return {};
}

std::string notes_on(const Traces& traces) {
  std::string text = note_on_runs(traces);
  for (const RankTrace& trace : traces.ranks) {
    if (trace.cut_short)
      text += text_for_terminal(trace.path) +
              ": cut off before its end; read to the last whole block\n";
    if (trace.dropped > 0)
      text +=
          fmt::format("{}: {} records were dropped when it was written: the disk was too slow\n",
                      text_for_terminal(trace.path), trace.dropped);
  }
  return text;
}

// Explains the last rows of the table.
static std::string bounds_text(const Study& study, bool shared) {
  std::string text =
      "cost%: share of the gets' cost that is saved. best fixed and clairvoyant are feasible "
      "with hindsight: lower bounds of the best\n"
      "possible; infinite: no cache that fetches only what was requested saves more.\n";
  if (shared)
    text +=
        "All three are of a cache for each rank: what is shared may save more. others%: gets "
        "served from what another rank of the node fetched.\n";
  if (study.bounds_rate < 1)
    text += fmt::format(
        "best fixed and clairvoyant were computed from a sample of 1 key in {:.3g} where traces "
        "are long.\n",
        1 / study.bounds_rate);
  return text;
}

std::string study_text(const StudyOptions& options, const Study& study) {
  std::string text = head_text(options, study) + "\n";
  const auto line = [&text](const std::string& storage, const std::string& policy,
                            const std::string& index, const Shares& shares, double time_ns,
                            const std::string& rest) {
    text += fmt::format("{:>10}  {:<17} {:>9}  {:>6.1f}  {:>6.1f}  {:>6.1f}  {:>10}{}\n", storage,
                        policy, index, 100 * shares.cost_saved, 100 * shares.hits,
                        100 * shares.bytes, time_text(time_ns), rest);
  };
  const bool shared = options.shares();
  text += fmt::format(
      "{:>10}  {:<17} {:>9}  {:>6}  {:>6}  {:>6}  {:>10}  {:>6}  {:>10}  {:>10}  {:>7}{}\n",
      "storage", "policy", "index", "cost%", "hits%", "bytes%", "time", "fill%", "evictions",
      "failing", "adapted", shared ? "  others%" : "");
  const Bound nothing;
  line("-", "no cache", "-", shares_of(nothing, study), bound_time_ns(nothing, study), "");
  for (size_t storage = 0; storage < options.storages.size(); ++storage) {
    for (const StudyRow& row : study.rows) {
      if (row.storage != storage) continue;
      line(options.storages[storage].text, policy_name(row.policy), options.indexes[row.index].text,
           shares_of(row, study), row.total.time_ns(study.traces.cost),
           fmt::format("  {:>6.1f}  {:>10}  {:>10}  {:>7}", 100 * row.total.fill(),
                       row.total.evictions, row.total.failing, row.total.adaptations) +
               (shared ? fmt::format("  {:>7.1f}",
                                     100 * ratio(row.total.hits_of_others, row.total.gets))
                       : ""));
    }
    for (const StudyBounds& bounds : study.bounds) {
      if (bounds.storage != storage) continue;
      each_bound(bounds, [&](const char* name, const char*, const Bound& bound) {
        line(options.storages[storage].text, name, "-", shares_of(bound, study),
             bound_time_ns(bound, study), "");
      });
    }
  }
  return study.bounds.empty() ? text : text + "\n" + bounds_text(study, shared);
}

std::string study_csv(const StudyOptions& options, const Study& study) {
  std::string text =
      "storage,storage_bytes,policy,index,index_entries,cost_saved,hit_ratio,byte_hit_ratio,time_"
      "ns,fill,evictions,failing,adaptations,hits_of_others\n";
  for (const StudyRow& row : study.rows) {
    const Shares shares = shares_of(row, study);
    text += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.0f},{:.4f},{},{},{},{}\n",
                        options.storages[row.storage].text, row.storage_bytes,
                        policy_name(row.policy), options.indexes[row.index].text, row.index_entries,
                        shares.cost_saved, shares.hits, shares.bytes,
                        row.total.time_ns(study.traces.cost), row.total.fill(), row.total.evictions,
                        row.total.failing, row.total.adaptations, row.total.hits_of_others);
  }
  for (const StudyBounds& bounds : study.bounds) {
    each_bound(bounds, [&](const char*, const char* name, const Bound& bound) {
      const Shares shares = shares_of(bound, study);
      text +=
          fmt::format("{},{},{},,,{:.6f},{:.6f},{:.6f},{:.0f},,,,,\n",
                      options.storages[bounds.storage].text, bounds.storage_bytes, name,
                      shares.cost_saved, shares.hits, shares.bytes, bound_time_ns(bound, study));
    });
  }
  return text;
}

std::string study_json(const StudyOptions& options, const Study& study) {
  ordered_json json = {
      {"format", "nearcache-simulation"}, {"version", 1}, {"nearcache", version_text()}};
  json["mode"] = options.selection.mode ? mode_name(*options.selection.mode) : "as-traced";
  json["ranks_per_node"] = options.ranks_per_node;
  json["by_host"] = options.by_host;
  json["cost"] = cost_json(study.traces);
  json["traces"] = traces_json(study.traces);
  json["windows"] = ordered_json::array();
  for (const WindowContent& window : study.windows) json["windows"].push_back(window_json(window));
  json["rows"] = ordered_json::array();
  for (const StudyRow& row : study.rows) json["rows"].push_back(row_json(options, study, row));
  json["bounds"] = ordered_json::array();
  for (const StudyBounds& bounds : study.bounds)
    json["bounds"].push_back(bounds_json(options, study, bounds));
  json["bounds_sample_rate"] = study.bounds_rate;
  return json.dump(1) + "\n";
}

}  // namespace nearcache::simulate
