// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/study.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "simulate/node_cache.h"
#include "telemetry/window_id.h"

namespace nearcache::simulate {
namespace {

// The bounds of longer traces are computed from a sample of the keys with about this many gets.
constexpr uint64_t most_gets_for_bounds = 4000000;

uint64_t gets_of(const StudyOptions& options, const RankTrace& trace) {
  uint64_t gets = 0;
  for (size_t at = 0; at < trace.windows.size(); ++at) {
    if (options.selection.has(trace.windows[at])) gets += trace.gets[at];
  }
  return gets;
}

// What one rank's windows have to cache: the basis of relative amounts.
struct RankContent {
  struct Content {
    uint64_t keys = 0, bytes = 0;
  };
  std::vector<Content> windows;
};

class StudyRun {
 public:
  StudyRun(const StudyOptions& options, Study* study)
      : options_(options), study_(*study), progress_(options.show_progress, steps()) {}

  std::string run() {
    prepare_rows();
    const std::vector<Placed> placed = by_node();
    for (size_t first = 0; first < placed.size();) {
      const uint32_t node = placed[first].node;
      std::vector<Member> members;
      for (; first < placed.size() && placed[first].node == node; ++first)
        members.push_back({placed[first].trace, {}});
      std::string wrong = replay_node(&members);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  struct Member {
    const RankTrace* trace;
    RankContent content;
  };

  struct Placed {
    uint32_t node;
    const RankTrace* trace;
  };
  // Groups the traces by node and sorts them by rank within it. Traces may be given in any order,
  // and those of some ranks may be missing.
  std::vector<Placed> by_node() const {
    std::unordered_map<std::string_view, uint32_t> hosts;
    std::vector<Placed> placed;
    for (const RankTrace& trace : study_.traces.ranks) {
      const auto place = static_cast<uint32_t>(placed.size());
      uint32_t node = place;
      if (options_.by_host)
        node = hosts.try_emplace(trace.header.host, place).first->second;
      else if (options_.ranks_per_node > 1)
        node = trace.header.rank / options_.ranks_per_node;
      placed.push_back({node, &trace});
    }
    if (options_.shares())
      std::ranges::stable_sort(placed, {}, [](const Placed& its) {
        return std::pair(its.node, its.trace->header.rank);
      });
    return placed;
  }

  uint64_t steps() const {
    uint64_t records = 0;
    for (const RankTrace& trace : study_.traces.ranks) {
      const bool sampled = options_.bounds && gets_of(options_, trace) > most_gets_for_bounds;
      records += trace.records *
                 (1 + sampled +
                  options_.policies.size() * options_.storages.size() * options_.indexes.size());
    }
    return records;
  }

  void prepare_rows() {
    for (size_t storage = 0; storage < options_.storages.size(); ++storage) {
      for (size_t index = 0; index < options_.indexes.size(); ++index) {
        for (const PolicyKind policy : options_.policies)
          study_.rows.push_back({policy, storage, index, 0, 0, {}, {}});
      }
      if (options_.bounds) study_.bounds.push_back({storage, 0, {}, {}, {}});
    }
  }

  std::string replay_node(std::vector<Member>* members) {
    std::string wrong;
    for (Member& member : *members) {
      wrong = look_at(*member.trace, &member.content);
      if (!wrong.empty()) return wrong;
    }
    for (size_t row = 0; row < study_.rows.size() && wrong.empty(); ++row)
      wrong = replay(*members, &study_.rows[row]);
    return wrong;
  }

  std::string look_at(const RankTrace& trace, RankContent* content) {
    std::vector<Reuse> reuse;
    const bool sampled = gets_of(options_, trace) > most_gets_for_bounds;
    std::string wrong = collect_reuse(options_, study_.traces, trace, Sample(),
                                      options_.bounds && !sampled, &progress_, &reuse);
    if (!wrong.empty()) return wrong;
    *content = note_content(trace, reuse);
    return options_.bounds ? add_bounds(trace, *content, std::move(reuse)) : wrong;
  }

  RankContent note_content(const RankTrace& trace, const std::vector<Reuse>& reuse) {
    RankContent content;
    for (size_t at = 0; at < reuse.size(); ++at) {
      const Reuse& window = reuse[at];
      content.windows.push_back({window.keys.size(), window.distinct_bytes});
      if (!options_.selection.has(trace.windows[at])) continue;
      study_.windows[content_of(trace.windows[at], &study_.windows)].add(window);
      study_.gets += window.gets;
      study_.bytes += window.bytes;
    }
    return content;
  }

  std::string add_bounds(const RankTrace& trace, const RankContent& content,
                         std::vector<Reuse> reuse) {
    Sample sample;
    const uint64_t gets = gets_of(options_, trace);
    std::vector<Bound> infinite;
    infinite.reserve(reuse.size());
    for (const Reuse& window : reuse) infinite.push_back({window.hits, window.hit_bytes});
    if (gets > most_gets_for_bounds) {
      sample = Sample(static_cast<double>(most_gets_for_bounds) / static_cast<double>(gets));
      reuse.clear();
      std::string wrong =
          collect_reuse(options_, study_.traces, trace, sample, true, &progress_, &reuse);
      if (!wrong.empty()) return wrong;
      study_.bounds_rate = std::min(study_.bounds_rate, sample.rate());
    }
    for (size_t at = 0; at < reuse.size(); ++at) {
      const Bounds bounds(std::move(reuse[at]), study_.traces.cost);
      for (StudyBounds& row : study_.bounds) {
        add_bound(bounds, sample, options_.storages[row.storage].of(content.windows[at].bytes),
                  infinite[at], &row);
      }
    }
    return {};
  }

  // Scales up the sample's misses, not its hits: gets of the few most requested keys, which a
  // sample may lack or have too many of, are mostly hits.
  static Bound scaled(const Bound& bound, const Bound& of_sample, const Bound& of_all,
                      double rate) {
    const auto scale = [rate](uint64_t bounded, uint64_t sampled, uint64_t all) {
      const double missed = static_cast<double>(sampled - std::min(bounded, sampled)) / rate;
      return static_cast<uint64_t>(std::max(0.0, static_cast<double>(all) - missed));
    };
    return {scale(bound.hits, of_sample.hits, of_all.hits),
            scale(bound.hit_bytes, of_sample.hit_bytes, of_all.hit_bytes)};
  }

  static void add_bound(const Bounds& bounds, const Sample& sample, uint64_t storage,
                        const Bound& infinite, StudyBounds* row) {
    row->storage_bytes += storage;
    row->infinite += infinite;
    for (const auto& [bound, sum] :
         {std::pair{bounds.best_fixed(sample.scaled(storage)), &row->best_fixed},
          std::pair{bounds.clairvoyant(sample.scaled(storage)), &row->clairvoyant}})
      *sum += sample.is_all() ? bound : scaled(bound, bounds.infinite(), infinite, sample.rate());
  }

  // The storage and index that a rank contributes to the cache of a window.
  struct Brought {
    uint64_t storage, index;
  };
  Brought brought(const Member& member, size_t window, const StudyRow& row) const {
    const RankContent::Content& content = member.content.windows[window];
    return {options_.storages[row.storage].of(content.bytes),
            std::max<uint64_t>(options_.indexes[row.index].of(content.keys), 1)};
  }

  // Creates the cache of a window for the ranks of a node, as large as their own caches together.
  // Returns null if fewer than two of them have the window with targets numbered by rank.
  std::shared_ptr<NodeCache> make_cache(const std::vector<Member>& members,
                                        const TraceWindowInfo& window, const StudyRow& row,
                                        std::string* wrong) const {
    uint32_t ranks = 0;
    Brought sum{0, 0};
    for (const Member& member : members) {
      const RankTrace& trace = *member.trace;
      for (size_t at = 0; at < trace.windows.size(); ++at) {
        if (trace.windows[at].id != window.id || !trace.targets[at].are_ranks()) continue;
        const Brought its = brought(member, at, row);
        ++ranks;
        sum.storage += its.storage;
        sum.index += its.index;
      }
    }
    if (ranks < 2) return nullptr;
    const WindowSettings settings =
        window_settings(options_, study_.traces, window, row.policy, sum.storage, sum.index);
    return NodeCache::make(ranks, window.unit != 0, settings.rules.cache,
                           options_.library.max_storage * ranks, wrong);
  }

  std::string replay(const std::vector<Member>& members, StudyRow* row) {
    using Parts = RankParts<WindowReplay>;
    std::vector<std::unique_ptr<MemoryBudget>> budgets;
    std::vector<std::unique_ptr<Parts>> parts;
    std::vector<Walked<WindowReplay>> walked;
    NodeCaches caches;
    std::string wrong;
    for (const Member& member : members) {
      const RankTrace& trace = *member.trace;
      MemoryBudget* budget = budgets.emplace_back(std::make_unique<MemoryBudget>()).get();
      if (options_.adaptive) budget->set_limit(options_.library.max_storage);
      const auto make = [&](uint32_t at, Acquires* acquires) {
        const TraceWindowInfo& window = trace.windows[at];
        const Brought its = brought(member, at, *row);
        row->storage_bytes += its.storage;
        row->index_entries += its.index;
        auto part = std::make_unique<WindowReplay>(
            window, trace.targets[at],
            window_settings(options_, study_.traces, window, row->policy, its.storage, its.index),
            trace.header.start_ns, acquires, budget);
        if (members.size() < 2 || !trace.targets[at].are_ranks()) return part;
        auto [cache, is_new] = caches.try_emplace(window.id);
        if (is_new) cache->second = make_cache(members, window, *row, &wrong);
        if (cache->second == nullptr) return part;
        if (auto joined = NodeCache::join(cache->second, budget, &wrong); joined != nullptr)
          part->share(std::move(joined));
        return part;
      };
      parts.push_back(
          std::make_unique<Parts>(study_.traces.ranks, trace, options_.selection, make));
      walked.push_back({&trace, parts.back().get()});
    }
    if (wrong.empty()) wrong = walk(walked, &progress_);
    if (!wrong.empty()) return wrong;
    row->windows.resize(study_.windows.size());
    for (size_t member = 0; member < members.size(); ++member) {
      const RankTrace& trace = *members[member].trace;
      for (size_t at = 0; at < trace.windows.size(); ++at) {
        if (parts[member]->part(at) == nullptr) continue;
        const WindowResult& result = parts[member]->part(at)->result();
        row->windows[content_of(trace.windows[at], &study_.windows)] += result;
        row->total += result;
      }
    }
    return {};
  }

  const StudyOptions& options_;
  Study& study_;
  Progress progress_;
};

}  // namespace

void WindowContent::add(const Reuse& reuse) {
  ++ranks;
  gets += reuse.gets;
  bytes += reuse.bytes;
  own_gets += reuse.own_gets;
  distinct_keys += reuse.keys.size();
  distinct_bytes += reuse.distinct_bytes;
  largest_rank_bytes = std::max(largest_rank_bytes, reuse.distinct_bytes);
}

size_t content_of(const TraceWindowInfo& info, std::vector<WindowContent>* windows) {
  for (size_t at = 0; at < windows->size(); ++at) {
    if ((*windows)[at].id == info.id) return at;
  }
  WindowContent content;
  content.id = info.id;
  content.name = info.name;
  content.mode = info.mode;
  windows->push_back(content);
  return windows->size() - 1;
}

// Returns the versions of a window that is in mode coherent at some time; null if it is not, or has
// too many ranks for the mode.
static const RegionVersions* versions_of(const StudyOptions& options, const Traces& traces,
                                         const TraceWindowInfo& window) {
  const auto found = traces.versions.find(window.id);
  return found == traces.versions.end() ||
                 (window.announced && window.ranks > options.library.coherent_ranks)
             ? nullptr
             : &found->second;
}

WindowSettings window_settings(const StudyOptions& options, const Traces& traces,
                               const TraceWindowInfo& window, PolicyKind policy, uint64_t storage,
                               uint64_t index) {
  WindowSettings settings{CachingRules(options.library), traces.cost, options.library.max_storage,
                          versions_of(options, traces, window)};
  settings.rules.mode = options.selection.mode_of(window);
  settings.rules.cache.policy = policy;
  settings.rules.cache.storage_bytes = storage;
  settings.rules.cache.index_capacity = index;
  settings.rules.cache.tuner.adaptive = options.adaptive;
  return settings;
}

std::string collect_reuse(const StudyOptions& options, const Traces& traces, const RankTrace& trace,
                          const Sample& sample, bool intervals, Progress* progress,
                          std::vector<Reuse>* reuse) {
  RankParts<ReuseCollector> parts(
      traces.ranks, trace, options.selection, [&](uint32_t at, Acquires* acquires) {
        const TraceWindowInfo& window = trace.windows[at];
        const ReuseCollector::Settings settings{
            options.selection.mode_of(window),    options.library.max_get, sample, intervals,
            versions_of(options, traces, window), trace.header.start_ns};
        return std::make_unique<ReuseCollector>(window, settings, acquires);
      });
  std::string wrong = walk(trace, &parts, progress);
  for (size_t at = 0; at < trace.windows.size(); ++at)
    reuse->push_back(parts.part(at) == nullptr ? Reuse() : parts.part(at)->take());
  return wrong;
}

std::string look_through(const StudyOptions& options, Traces* traces) {
  CostSamples costs;
  for (const std::string& path : options.traces) {
    std::string wrong = look_through(path, &traces->ranks.emplace_back(), &costs);
    if (!wrong.empty()) return wrong;
  }
  traces->cost_samples = costs.samples();
  traces->cost_measured = costs.mean();
  traces->cost_least = costs.least();
  traces->cost_with_slowest = costs.with_slowest();
  if (options.model) {
    traces->cost = *options.model;
    traces->cost_from = "model";
  } else if (costs.samples() > 0) {
    traces->cost = traces->cost_measured;
    traces->cost_from = "trace";
  } else {
    traces->cost_from = "assumed";
  }
  for (const uint64_t id : options.selection.window_ids) {
    const bool known =
        std::any_of(traces->ranks.begin(), traces->ranks.end(), [id](const RankTrace& trace) {
          return std::any_of(trace.windows.begin(), trace.windows.end(),
                             [id](const TraceWindowInfo& window) { return window.id == id; });
        });
    if (!known)
      return fmt::format("--window {}: the trace{} no such window",
                         window_label(static_cast<int64_t>(id)),
                         options.traces.size() == 1 ? " has" : "s have");
  }
  return {};
}

std::string read_versions(const StudyOptions& options, Traces* traces) {
  const auto is_coherent = [](const RankTrace& trace) { return trace.coherent; };
  const bool as_traced = !options.selection.mode &&
                         std::any_of(traces->ranks.begin(), traces->ranks.end(), is_coherent);
  return as_traced || options.selection.mode == Mode::coherent
             ? read_versions(traces->ranks, &traces->versions)
             : "";
}

std::string run_study(const StudyOptions& options, Study* study) {
  std::string wrong = look_through(options, &study->traces);
  if (wrong.empty()) wrong = read_versions(options, &study->traces);
  if (!wrong.empty()) return wrong;
  return StudyRun(options, study).run();
}

}  // namespace nearcache::simulate
