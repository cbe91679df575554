// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/curve.h"

#include <algorithm>
#include <cmath>

#include "cache/get/lines.h"
#include "telemetry/report.h"

namespace nearcache::simulate {
namespace {

// Longer traces are sampled down to about `enough_gets` gets, but not below `enough_keys` keys,
// which still represent sizes and repeats.
constexpr double enough_gets = 500000, enough_keys = 20000;
constexpr double least_share = 1.0 / 1024;  // fraction of the distinct bytes where the curve begins
constexpr double least_end = 64 << 10;      // bytes; the curve ends here or later

// What one rank requests from one window.
struct Use {
  uint64_t gets = 0, bytes = 0, keys = 0;
};
using RankUse = std::vector<Use>;  // by window of the trace

class CurveRun {
 public:
  CurveRun(const StudyOptions& options, unsigned points, Curves* curves)
      : options_(options),
        points_(points),
        curves_(*curves),
        progress_(options.show_progress, steps()) {}

  std::string run() {
    std::string wrong = look_at_reuse();
    if (!wrong.empty()) return wrong;
    for (const WindowContent& content : contents_) curves_.windows.push_back(prepared(content));
    totals_.resize(contents_.size());
    for (unsigned point = 0; point < points_ && wrong.empty(); ++point)
      wrong = look_at_point(point);
    return wrong;
  }

 private:
  uint64_t steps() const {
    uint64_t records = 0;
    for (const RankTrace& trace : curves_.traces.ranks) records += trace.records * (1 + points_);
    return records;
  }

  std::string look_at_reuse() {
    for (const RankTrace& trace : curves_.traces.ranks) {
      std::vector<Reuse> reuse;
      std::string wrong =
          collect_reuse(options_, curves_.traces, trace, Sample(), false, &progress_, &reuse);
      if (!wrong.empty()) return wrong;
      RankUse& use = uses_.emplace_back();
      for (size_t at = 0; at < reuse.size(); ++at) {
        use.push_back({reuse[at].gets, reuse[at].bytes, reuse[at].keys.size()});
        if (options_.selection.has(trace.windows[at])) note(trace.windows[at], reuse[at]);
      }
    }
    return {};
  }

  void note(const TraceWindowInfo& info, const Reuse& reuse) {
    const size_t at = content_of(info, &contents_);
    WindowContent& content = contents_[at];
    content.add(reuse);
    content.stored_bytes += reuse.stored_bytes(granule_bytes);
    content.largest_rank_room =
        std::max(content.largest_rank_room, reuse.stored_bytes(Lines::shortest));
    infinite_.resize(contents_.size());
    infinite_[at] += {reuse.hits, reuse.hit_bytes};
  }

  WindowCurve prepared(const WindowContent& content) const {
    WindowCurve curve;
    curve.content = content;
    const auto at = static_cast<size_t>(&content - contents_.data());
    curve.infinite = point_of(content, static_cast<double>(infinite_[at].hits),
                              static_cast<double>(infinite_[at].hit_bytes));
    curve.infinite.storage_bytes = content.largest_rank_bytes;
    // From least_share up to an eighth more than all data takes, since storage is never without
    // gaps. Lines and read-ahead may take many times what a small window requests.
    const double most =
        std::max(1.125 * static_cast<double>(content.largest_rank_room), least_end) /
        static_cast<double>(std::max<uint64_t>(content.largest_rank_bytes, 1));
    for (unsigned i = 0; i < points_; ++i) {
      const double share =
          least_share * std::pow(std::max(most, 1.125) / least_share, i / (points_ - 1.0));
      const double bytes = std::max(share * static_cast<double>(content.largest_rank_bytes),
                                    static_cast<double>(granule_bytes));
      curve.points.push_back({static_cast<uint64_t>(bytes), 0, 0, 0});
    }
    return curve;
  }

  CurvePoint point_of(const WindowContent& content, double hits, double hit_bytes) const {
    const Cost& cost = curves_.traces.cost;
    const double all = cost.of(content.gets, content.bytes);
    if (content.gets == 0 || all <= 0) return {};
    const double saved = cost.latency_ns * hits + cost.ns_per_byte * hit_bytes;
    return {0, saved / all, hits / static_cast<double>(content.gets),
            hit_bytes / static_cast<double>(std::max<uint64_t>(content.bytes, 1))};
  }

  struct Total {
    double hits = 0, hit_bytes = 0;
  };

  std::string look_at_point(unsigned point) {
    for (Total& total : totals_) total = Total();
    for (size_t rank = 0; rank < uses_.size(); ++rank) {
      std::string wrong = replay(point, curves_.traces.ranks[rank], uses_[rank]);
      if (!wrong.empty()) return wrong;
    }
    for (size_t at = 0; at < totals_.size(); ++at) {
      WindowCurve& curve = curves_.windows[at];
      const uint64_t storage = curve.points[point].storage_bytes;
      curve.points[point] = point_of(curve.content, totals_[at].hits, totals_[at].hit_bytes);
      curve.points[point].storage_bytes = storage;
    }
    return {};
  }

  // Uses one rate for a whole rank, because its windows share generations and clocks.
  static Sample sample_of(const RankUse& use) {
    double gets = 0, keys = 0;
    for (const Use& window : use) {
      gets += static_cast<double>(window.gets);
      keys += static_cast<double>(window.keys);
    }
    return Sample(std::max(enough_gets / std::max(gets, 1.0), enough_keys / std::max(keys, 1.0)));
  }

  std::string replay(unsigned point, const RankTrace& trace, const RankUse& use) {
    Selection selection = options_.selection;
    selection.sample = sample_of(use);
    const Sample& sample = selection.sample;
    MemoryBudget budget;
    RankParts<WindowReplay> parts(
        curves_.traces.ranks, trace, selection, [&](uint32_t at, Acquires* acquires) {
          WindowCurve& curve = curves_.windows[content_of(trace.windows[at], &contents_)];
          curve.sample_rate = std::min(curve.sample_rate, sample.rate());
          const uint64_t storage = sample.scaled(curve.points[point].storage_bytes);
          const uint64_t index = std::max<uint64_t>(sample.scaled(use[at].keys * 3 / 2), 16);
          return std::make_unique<WindowReplay>(
              trace.windows[at], trace.targets[at],
              window_settings(options_, curves_.traces, trace.windows[at],
                              options_.policies.front(), storage, index),
              trace.header.start_ns, acquires, &budget);
        });
    std::string wrong = walk(trace, &parts, &progress_);
    for (size_t at = 0; at < trace.windows.size(); ++at) {
      if (parts.part(at) != nullptr)
        add(use[at], parts.part(at)->result(), sample,
            &totals_[content_of(trace.windows[at], &contents_)]);
    }
    return wrong;
  }

  // Scales up the sample's misses, not its hits. A sample has too many or too few gets of the few
  // most requested keys, and these gets are mostly hits (the correction of SHARDS-adj).
  static void add(const Use& use, const WindowResult& result, const Sample& sample, Total* total) {
    const auto missed = [&sample](uint64_t asked, uint64_t served) {
      return static_cast<double>(asked - served) / sample.rate();
    };
    total->hits +=
        std::max(0.0, static_cast<double>(use.gets) - missed(result.gets, result.whole_hits()));
    total->hit_bytes +=
        std::max(0.0, static_cast<double>(use.bytes) - missed(result.bytes, result.hit_bytes));
  }

  const StudyOptions& options_;
  const unsigned points_;
  Curves& curves_;
  Progress progress_;
  std::vector<RankUse> uses_;
  std::vector<WindowContent> contents_;
  std::vector<Bound> infinite_;
  std::vector<Total> totals_;
};

}  // namespace

std::string run_curves(const StudyOptions& options, unsigned points, Curves* curves) {
  std::string wrong = look_through(options, &curves->traces);
  if (wrong.empty()) wrong = read_versions(options, &curves->traces);
  if (!wrong.empty()) return wrong;
  return CurveRun(options, points, curves).run();
}

}  // namespace nearcache::simulate
