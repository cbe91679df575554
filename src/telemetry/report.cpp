// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "telemetry/window_id.h"

namespace nearcache {
namespace {

using json = nlohmann::ordered_json;

struct Verdict {
  bool helped;
  double saved_seconds;  // mean over ranks
  std::string text;
};

struct Spread {
  double min = 0, mean = 0, max = 0;
};

template <class Value>
Spread spread_of(const std::vector<RankReport>& ranks, Value value) {
  Spread spread;
  bool first = true;
  for (const RankReport& rank : ranks) {
    const double v = static_cast<double>(value(rank));
    spread.min = first ? v : std::min(spread.min, v);
    spread.max = first ? v : std::max(spread.max, v);
    spread.mean += v / static_cast<double>(ranks.size());
    first = false;
  }
  return spread;
}

Counters totals_of(const Report& report) {
  Counters totals;
  for (const RankReport& rank : report.ranks) totals += rank.counters;
  return totals;
}

size_t nodes_of(const Report& report) {
  std::set<uint64_t> nodes;
  for (const RankReport& rank : report.ranks) nodes.insert(rank.node);
  return nodes.size();
}

uint64_t hits_of(const Counters& c) { return c.hits_full + c.hits_pending + c.hits_partial; }

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Replaces the control characters in a name chosen by others, such as a program's, which a terminal
// would take for commands.
std::string printable(const std::string& text) {
  std::string clean;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F
    const bool second_set =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (second_set) ++i;
    clean += c < 0x20 || c == 0x7f || second_set ? '?' : text[i];
  }
  return clean;
}

std::string formatted(const char* format, auto... values) {
  char line[512];
  snprintf(line, sizeof line, format, values...);
  return line;
}

// Differences below one percent of the run, or below a millisecond, cannot be told from noise.
// `what` is what saved the time, `one` what a process is called.
Verdict measured_verdict(const char* what, const char* one, double saved, double wall) {
  if (saved < -0.001 && saved < -0.01 * wall)
    return {false, saved,
            formatted("%s cost an estimated %.3f s per %s more than they saved; the run took %.3f "
                      "s: the cache cost time",
                      what, -saved, one, wall)};
  if (saved < 0.001 || saved < 0.01 * wall)
    return {false, saved,
            formatted("%s saved an estimated %.4f s per %s of %.3f s: the cache did not help", what,
                      saved, one, wall)};
  return {true, saved,
          formatted("%s saved an estimated %.3f s per %s; the run took %.3f s", what, saved, one,
                    wall)};
}

// OpenSHMEM caches writes as well, so not only hits can save time.
Verdict openshmem_verdict(const Report& report, const Counters& totals, double saved, double wall) {
  if (!report.options.shmem) return {false, 0, "the cache was switched off"};
  if (totals.gets + totals.puts == 0)
    return {false, 0, "no gets and puts were seen: the cache did not help"};
  if (totals.gets == totals.bypassed && totals.puts == totals.puts_bypassed)
    return {false, 0,
            "all gets and puts bypassed the cache: PEs within reach of loads and stores, large or "
            "uncached ones"};
  if (report.options.shmem_check)
    return {false, saved,
            formatted("%llu of %llu hits that were fetched again were stale: %s",
                      static_cast<unsigned long long>(totals.hits_old),
                      static_cast<unsigned long long>(totals.hits_checked),
                      totals.hits_old == 0 ? "the contract was kept in this run"
                                           : "the program breaks the contract")};
  return measured_verdict("hits and joined puts", "PE", saved, wall);
}

// Returns why no get was a hit. Blames a lack of repeats only if most gets were stored.
std::string no_hit_verdict(const Counters& c) {
  const char* why = "no get was repeated while its data was valid";
  if (c.bypassed == c.gets)
    why =
        "all gets bypassed the cache: own rank, cheap targets, too large, or layouts that are not "
        "understood";
  else if (2 * (c.conflicting + c.capacity + c.failing) > c.gets - c.bypassed)
    why =
        "no get was a hit, because most were turned away or pushed each other out: the index or "
        "the "
        "storage is small, or storing did not pay";
  return std::string(why) + ": the cache did not help";
}

// Returns the share of hits, without gets of the rank's own memory, which needs no cache.
double hit_share(const Counters& c) {
  return share(hits_of(c), c.gets - std::min(c.gets, c.own_gets));
}

Verdict verdict_of(const Report& report) {
  const Counters totals = totals_of(report);
  const Spread wall = spread_of(report.ranks, [](const RankReport& r) { return r.wall_seconds; });
  const double saved =
      report.ranks.empty()
          ? 0
          : 1e-9 * (static_cast<double>(totals.saved_ns) - static_cast<double>(totals.lost_ns)) /
                static_cast<double>(report.ranks.size());
  if (report.api == Api::openshmem) return openshmem_verdict(report, totals, saved, wall.mean);
  if (totals.gets == 0)
    return {false, 0, "no gets were seen on windows that can be cached: the cache did not help"};
  if (hits_of(totals) == 0) return {false, 0, no_hit_verdict(totals)};
  return measured_verdict("hits", "rank", saved, wall.mean);
}

json counters_json(const Counters& counters) {
  json object = json::object();
#define NEARCACHE_COUNTER(name, kind, unit, help) object[#name] = counters.name;
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
  return object;
}

json spread_json(const Spread& spread) {
  return {{"min", spread.min}, {"mean", spread.mean}, {"max", spread.max}};
}

json options_json(const Options& options) {
  json object = json::object();
  for (const OptionRow& row : option_rows()) object[row.name] = option_text(options, row.name);
  return object;
}

json window_json(const WindowReport& window) {
  return {{"id", window.id},
          {"name", window.name},
          {"mode", window.mode},
          {"policy", window.policy},
          {"ranks", window.ranks},
          {"bypass", window.bypass.empty() ? json() : json(window.bypass)},
          {"incoherent", window.incoherent.empty() ? json() : json(window.incoherent)},
          {"unshared", window.unshared.empty() ? json() : json(window.unshared)},
          {"sharing", window.sharing == 0
                          ? json()
                          : json{{"ranks", window.sharing}, {"caches", window.shared_caches}}},
          {"counters", counters_json(window.counters)}};
}

std::string bytes_text(uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return formatted(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

std::string openshmem_text(const Counters& c) {
  const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string text =
      formatted("  misses     %llu; past the cache %llu\n", n(c.direct), n(c.bypassed));
  text += formatted("  puts       %llu, written back by %llu transfers; past the cache %llu\n",
                    n(c.puts), n(c.network_puts), n(c.puts_bypassed));
  text += "  bytes      got " + bytes_text(c.bytes_requested) + ", from cache " +
          bytes_text(c.bytes_from_cache) + ", from network " + bytes_text(c.bytes_from_network) +
          "; put " + bytes_text(c.bytes_put) + "\n";
  text += formatted("  ahead      %llu transfers, %llu prefetches; %llu lines, %.1f%% used\n",
                    n(c.readaheads), n(c.prefetches), n(c.lines_ahead),
                    100 * share(c.lines_ahead_used, c.lines_ahead));
  text += formatted("  sync       %llu quiets and fences, %llu releases; dropped %llu times\n",
                    n(c.syncs_passed), n(c.releases), n(c.invalidations));
  return text;
}

std::string mpi_text(const Counters& c) {
  const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string text = formatted("  hits       full %llu, pending %llu, partial %llu\n",
                               n(c.hits_full), n(c.hits_pending), n(c.hits_partial));
  text += formatted(
      "  misses     direct %llu, conflicting %llu, capacity %llu, failing %llu; bypassed %llu\n",
      n(c.direct), n(c.conflicting), n(c.capacity), n(c.failing), n(c.bypassed));
  if (c.hits_shared != 0)
    text += formatted("  shared     %llu hits of what another rank of the node had fetched\n",
                      n(c.hits_shared));
  text += "  bytes      requested " + bytes_text(c.bytes_requested) + ", from cache " +
          bytes_text(c.bytes_from_cache) + ", from network " + bytes_text(c.bytes_from_network) +
          "\n";
  text += formatted(
      "  sync       %llu served, %llu passed to MPI, %llu progress calls; dropped %llu times\n",
      n(c.syncs_served), n(c.syncs_passed), n(c.progress_calls), n(c.invalidations));
  if (c.validations + c.announcements + c.store_looks != 0) {
    text += formatted(
        "  coherence  %llu hits across acquires by %llu validations (%llu regions changed); %llu "
        "announcements of writes, %llu looks at own stores (%llu changes)\n",
        n(c.hits_kept), n(c.validations), n(c.regions_changed), n(c.announcements),
        n(c.store_looks), n(c.store_changes));
  }
  return text;
}

}  // namespace

const char* version_text() { return NEARCACHE_VERSION_TEXT; }

std::string report_json(const Report& report) {
  const Verdict verdict = verdict_of(report);
  json document = {{"format", "nearcache-report"},
                   {"version", report_version},
                   {"nearcache", version_text()},
                   {"api", report.api == Api::mpi ? "MPI" : "OpenSHMEM"},
                   {"mpi", report.library},
                   {"host", report.host},
                   {"program", report.program},
                   {"command", report.launch.command},
                   {"started", report.launch.started},
                   {"job", report.launch.job},
                   {"threads", report.launch.threads},
                   {"nodes", nodes_of(report)},
                   {"ranks", report.ranks.size()},
                   {"modelled", report.modelled.empty() ? json() : json(report.modelled)},
                   {"options", options_json(report.options)}};
  document["wall_seconds"] =
      spread_json(spread_of(report.ranks, [](const RankReport& r) { return r.wall_seconds; }));
  document["totals"] = counters_json(totals_of(report));
  json spread = json::object();
#define NEARCACHE_COUNTER(name, kind, unit, help) \
  spread[#name] =                                 \
      spread_json(spread_of(report.ranks, [](const RankReport& r) { return r.counters.name; }));
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
  document["spread"] = spread;
  document["per_rank"] = json::array();
  for (size_t rank = 0; rank < report.ranks.size(); ++rank) {
    document["per_rank"].push_back({{"rank", rank},
                                    {"wall_seconds", report.ranks[rank].wall_seconds},
                                    {"counters", counters_json(report.ranks[rank].counters)}});
  }
  document["windows"] = json::array();
  for (const WindowReport& window : report.windows)
    document["windows"].push_back(window_json(window));
  document["verdict"] = {
      {"helped", verdict.helped}, {"saved_seconds", verdict.saved_seconds}, {"text", verdict.text}};
  document["details"] = json::parse(report.details.json());
  return document.dump(1, ' ', false, json::error_handler_t::replace);
}

std::string report_text(const Report& report) {
  const Counters c = totals_of(report);
  const Verdict verdict = verdict_of(report);
  const bool mpi = report.api == Api::mpi;
  const Spread hits =
      spread_of(report.ranks, [](const RankReport& r) { return 100 * hit_share(r.counters); });
  std::string text = formatted(
      "nearcache %s: %zu %s%s of %s\n", version_text(), report.ranks.size(), mpi ? "rank" : "PE",
      report.ranks.size() == 1 ? "" : "s", printable(report.program).c_str());
  if (!report.modelled.empty()) text += "  network    MODELLED: " + report.modelled + "\n";
  text += formatted("  gets       %llu, %.1f%% hits (min %.1f, mean %.1f, max %.1f over %s)\n",
                    static_cast<unsigned long long>(c.gets), 100 * hit_share(c), hits.min,
                    hits.mean, hits.max, mpi ? "ranks" : "PEs");
  text += mpi ? mpi_text(c) : openshmem_text(c);
  for (const WindowReport& window : report.windows) {
    const std::string what = !mpi            ? printable(window.name)
                             : window.id < 0 ? "windows"
                                             : "window " + window_label(window.id);
    if (!window.bypass.empty())
      text += "  " + what + "   not cached: " + printable(window.bypass) + "\n";
    if (!window.incoherent.empty())
      text += "  " + what + "   not kept across acquires: " + printable(window.incoherent) + "\n";
    if (window.sharing != 0)
      text += formatted("  %s   %d of %d ranks share %d node %s\n", what.c_str(), window.sharing,
                        window.ranks, window.shared_caches,
                        window.shared_caches == 1 ? "cache" : "caches");
    if (!window.unshared.empty())
      text += "  " + what + "   not shared with others of the node: " + printable(window.unshared) +
              "\n";
  }
  text += "  verdict    " + verdict.text + "\n";
  return text;
}

}  // namespace nearcache
