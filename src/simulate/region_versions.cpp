// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/region_versions.h"

#include <algorithm>

#include "simulate/window_writes.h"

namespace nearcache::simulate {
namespace {

uint64_t until(const std::vector<uint64_t>& times, uint64_t now) {
  return static_cast<uint64_t>(std::upper_bound(times.begin(), times.end(), now) - times.begin());
}

// The regions that a writer has open at a target, as a mask, and until when (ns).
struct Written {
  uint64_t open = 0, until = 0;
};

}  // namespace

RegionVersions::RegionVersions(Regions regions, const std::vector<TimedWrite>& writes)
    : regions_(regions) {
  std::unordered_map<uint64_t, Written> written;
  for (const TimedWrite& write : writes) {
    uint64_t mask = regions_.mask(write.from, write.to);
    if (mask == 0) continue;
    Target& target = targets_[write.target];
    if (write.by_owner) {
      each_region(mask, [&](uint32_t region) { target[region].stored.push_back(write.until); });
      continue;
    }
    Written& its = written[uint64_t{write.writer} << 32 | write.target];
    if (its.until < write.since) its = Written();
    mask |= VersionWords::to_open(its.open, mask);
    its.open |= mask;
    its.until = std::max(its.until, write.until);
    each_region(mask, [&](uint32_t region) {
      target[region].opened.push_back(write.since);
      if (write.until != UINT64_MAX) target[region].closed.push_back(write.until);
    });
  }
  for (auto& [rank, target] : targets_) {
    for (Times& region : target) {
      for (std::vector<uint64_t>* times : {&region.opened, &region.closed, &region.stored})
        std::sort(times->begin(), times->end());
    }
  }
}

VersionWords RegionVersions::at(uint32_t target, uint64_t now) const {
  VersionWords words{};
  const auto found = targets_.find(target);
  if (found == targets_.end()) return words;
  for (uint32_t region = 0; region < VersionWords::regions; ++region) {
    const Times& times = found->second[region];
    words.remote[region] = VersionWords::open * until(times.opened, now) +
                           VersionWords::close * until(times.closed, now);
    words.own[region] = 2 * until(times.stored, now);
  }
  return words;
}

bool RegionVersions::changed(uint32_t target, int64_t from, int64_t to, uint64_t since,
                             uint64_t now) const {
  const auto found = targets_.find(target);
  if (found == targets_.end() || now <= since) return false;
  bool any = false;
  each_region(regions_.mask(from, to), [&](uint32_t region) {
    const Times& times = found->second[region];
    for (const std::vector<uint64_t>* each : {&times.opened, &times.closed, &times.stored})
      any = any || until(*each, since) != until(*each, now);
  });
  return any;
}

std::string read_versions(const std::vector<RankTrace>& traces, VersionsById* versions) {
  struct Window {
    WindowWrites writes;
    uint64_t most_bytes = 0;
  };
  std::unordered_map<uint64_t, Window> windows;
  for (const RankTrace& trace : traces) {
    for (const TraceWindowInfo& info : trace.windows)
      windows[info.id].most_bytes = std::max(windows[info.id].most_bytes, info.own_bytes);
  }
  for (const RankTrace& trace : traces) {
    std::vector<WindowWrites*> of_trace;
    of_trace.reserve(trace.windows.size());
    for (const TraceWindowInfo& info : trace.windows) of_trace.push_back(&windows[info.id].writes);
    WriteCollector collector(trace, std::move(of_trace));
    TraceReader reader;
    std::string wrong = reader.open(trace.path);
    if (!wrong.empty()) return wrong;
    reader.show_times();
    for (TraceEvent event; reader.next(&event);) collector.event(event);
    if (!reader.error().empty()) return reader.error();
  }
  for (const auto& [id, window] : windows) {
    if (window.most_bytes != 0)
      versions->try_emplace(id, Regions(window.most_bytes), window.writes.writes);
  }
  return {};
}

}  // namespace nearcache::simulate
