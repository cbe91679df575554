// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/pages.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

namespace nearcache::simulate {
namespace {

constexpr double served_ns = 15;  // per access that the cache serves (measured: bench/run shmem)
constexpr uint64_t segment_bits = 44;  // in a trace's displacements, segments are 2^44 apart

// The times of transfers through one context, by one of the costs. All contexts of a PE share its
// clock.
class CostClock {
 public:
  CostClock(const PageCosts& costs, double* now) : costs_(costs), now_(*now) {}

  void get(size_t bytes) { now_ += costs_.get.get(bytes); }
  void post(size_t bytes) {
    now_ += costs_.put_ns;
    last_ = std::max(last_, now_ + costs_.get.get(bytes));
  }
  void quiet() { now_ = std::max(now_, last_) + costs_.quiet_ns; }
  void compute(double ns) { now_ += ns; }
  double now_ns() const { return now_; }

 private:
  const PageCosts costs_;
  double& now_;
  double last_ = 0;
};

// The cost of a PE's transfers through one context.
class CostNetwork final : public PageTransport {
 public:
  CostNetwork(const PageStudy& study, const std::map<uint64_t, Extent>& extents, PageTimes* now)
      : extents_(extents),
        typical_(study.costs, &now->typical),
        with_slowest_(study.costs_with_slowest, &now->with_slowest) {}

  void get(void*, uint64_t, size_t bytes, int) override {
    typical_.get(bytes);
    with_slowest_.get(bytes);
  }
  void get_nbi(void*, uint64_t, size_t bytes, int) override { post(bytes); }
  void put(uint64_t, const void*, size_t bytes, int) override { post(bytes); }
  void fence() override {}
  void quiet() override {
    if (!issued_) return;
    typical_.quiet();
    with_slowest_.quiet();
    issued_ = false;
  }
  Extent extent(uint64_t address, size_t, int) override {
    const auto found = extents_.find(address >> segment_bits);
    return found == extents_.end() ? Extent{} : found->second;
  }
  double now_ns() override { return typical_.now_ns() + 1; }
  void compute(double ns) {
    typical_.compute(ns);
    with_slowest_.compute(ns);
  }

 private:
  void post(size_t bytes) {
    typical_.post(bytes);
    with_slowest_.post(bytes);
    issued_ = true;
  }

  const std::map<uint64_t, Extent>& extents_;
  CostClock typical_, with_slowest_;
  bool issued_ = false;
};

// Returns the mean, of all but the slowest fiftieth or of all; 0 if `times` is empty.
double mean_of(std::vector<double> times, bool with_slowest) {
  std::sort(times.begin(), times.end());
  if (!with_slowest) times.resize(times.size() - times.size() / 50);
  double sum = 0;
  for (const double time : times) sum += time;
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

// Findings of the first pass over all traces, in addition to those of look_through().
struct Looks {
  std::vector<std::map<uint64_t, Extent>> extents;  // by trace: what it accesses, by segment
  std::vector<double> puts, quiets;                 // times taken
};

bool is_access(const TraceEvent& event) {
  return event.kind == TraceKind::get || event.kind == TraceKind::write;
}

void note_extent(const TraceEvent& event, std::map<uint64_t, Extent>* extents) {
  const auto begin = static_cast<uint64_t>(event.displacement);
  const uint64_t end = begin + event.bytes;
  auto [found, is_new] = extents->try_emplace(begin >> segment_bits, Extent{begin, end});
  if (is_new) return;
  found->second = {std::min(found->second.begin, begin), std::max(found->second.end, end)};
}

// Returns true if the event belongs to a selected window, or to none.
bool is_selected(const TraceEvent& event, const TraceReader& reader, const Selection& selection) {
  return event.window == TraceEvent::no_window || selection.has(reader.windows()[event.window]);
}

std::string look(const RankTrace& trace, const Selection& selection, Looks* looks,
                 PageStudy* study) {
  TraceReader reader;
  std::string wrong = reader.open(trace.path);
  if (!wrong.empty()) return wrong;
  std::map<uint64_t, Extent>& extents = looks->extents.emplace_back();
  for (TraceEvent event; reader.next(&event);) {
    if (!is_selected(event, reader, selection)) continue;
    if (is_access(event)) note_extent(event, &extents);
    if (event.kind == TraceKind::get) ++study->gets, study->get_bytes += event.bytes;
    if (event.kind == TraceKind::write) {
      const bool put = event.detail == static_cast<uint8_t>(TraceWrite::put);
      ++(put ? study->puts : study->atomics);
      if (put) study->put_bytes += event.bytes;
    }
    if (event.kind == TraceKind::sync) {
      study->quiets += event.detail == static_cast<uint8_t>(TraceSync::quiet);
      study->acquires += event.detail == static_cast<uint8_t>(TraceSync::acquire);
    }
    if (event.kind != TraceKind::cost) continue;
    const auto ns = static_cast<double>(event.value);
    if (event.detail == static_cast<uint8_t>(TraceCost::put)) looks->puts.push_back(ns);
    if (event.detail == static_cast<uint8_t>(TraceCost::quiet)) looks->quiets.push_back(ns);
  }
  return reader.error();
}

// An operation that was never timed is assumed to take: a put, a tenth of a get's latency; a quiet,
// a whole latency, since it asks the target and waits.
PageCosts costs_of(const Traces& traces, const Looks& looks, bool with_slowest) {
  PageCosts costs;
  const bool measured = traces.cost_from == "trace";
  costs.get = measured && with_slowest ? traces.cost_with_slowest : traces.cost;
  costs.from = traces.cost_from;
  costs.put_ns = measured ? mean_of(looks.puts, with_slowest) : 0;
  costs.quiet_ns = measured ? mean_of(looks.quiets, with_slowest) : 0;
  if (costs.put_ns == 0) costs.put_ns = costs.get.latency_ns / 10;
  if (costs.quiet_ns == 0) costs.quiet_ns = costs.get.latency_ns;
  return costs;
}

// Replays one PE's accesses, with caches of one size or without any.
class PageReplay {
 public:
  PageReplay(const PageStudy& study, const StudyOptions& options, const PageCacheOptions* cache,
             const std::map<uint64_t, Extent>& extents)
      : study_(study),
        cache_(cache),
        largest_(options.library.shmem_max_transfer),
        extents_(extents),
        buffer_(std::max<uint64_t>(largest_, 1)) {}

  std::string play(const RankTrace& trace, const Selection& selection, Progress* progress) {
    TraceReader reader;
    std::string wrong = reader.open(trace.path);
    if (!wrong.empty()) return wrong;
    TraceEvent event;
    while (reader.next(&event)) {
      progress->advance(1);
      if (event.kind == TraceKind::sync &&
          event.detail == static_cast<uint8_t>(TraceSync::acquire)) {
        acquire();
      } else if (event.window != TraceEvent::no_window &&
                 selection.has(reader.windows()[event.window])) {
        if (!perform(event)) return "no memory for a cache of the size that was asked for";
      }
    }
    return reader.error();
  }
  void add_times(PageTimes* sum) const {
    sum->typical += now_.typical;
    sum->with_slowest += now_.with_slowest;
  }
  void add_counters(PageCacheCounters* sum) const {
    for (const auto& [window, context] : contexts_) {
      if (context->pages == nullptr) continue;
      const PageCacheCounters& c = context->pages->counters();
      sum->gets += c.gets;
      sum->hits += c.hits;
      sum->puts += c.puts;
      sum->get_bytes += c.get_bytes;
      sum->hit_bytes += c.hit_bytes;
      sum->network_gets += c.network_gets;
      sum->network_get_bytes += c.network_get_bytes;
      sum->network_puts += c.network_puts;
      sum->network_put_bytes += c.network_put_bytes;
      sum->evictions += c.evictions;
    }
  }

 private:
  struct Context {
    explicit Context(const CostNetwork& made) : network(made) {}
    CostNetwork network;
    std::unique_ptr<PageCache> pages;  // null: accesses are not cached
  };

  // Returns the window's context, created if necessary, or null if there is no memory for it.
  Context* context_of(uint32_t window) {
    auto& context = contexts_[window];
    if (context != nullptr) return context.get();
    context = std::make_unique<Context>(CostNetwork(study_, extents_, &now_));
    if (cache_ == nullptr) return context.get();
    context->pages = std::make_unique<PageCache>();
    if (!context->pages->create(*cache_, &context->network)) return nullptr;
    context->pages->flag_may_follow();  // what was ordered before is unknown
    return context.get();
  }
  void acquire() {
    for (const auto& [window, context] : contexts_) {
      if (context->pages == nullptr) continue;
      context->pages->acquire();
      context->pages->flag_may_follow();
    }
  }
  bool perform(const TraceEvent& event) {
    Context* context = context_of(event.window);
    if (context == nullptr) return false;
    if (event.kind == TraceKind::sync) sync(*context, static_cast<TraceSync>(event.detail));
    if (event.bytes == 0) return true;
    if (event.kind == TraceKind::get) get(*context, event);
    if (event.kind == TraceKind::write) write(*context, event);
    return true;
  }
  void get(Context& context, const TraceEvent& event) {
    const auto pe = static_cast<int>(event.target);
    const auto address = static_cast<uint64_t>(event.displacement);
    const bool blocks = event.detail != static_cast<uint8_t>(Outcome::pending);
    PageCache* pages = context.pages.get();
    if (pages != nullptr && event.bytes <= largest_ &&
        event.detail != static_cast<uint8_t>(Outcome::bypassed) &&
        (blocks || pages->holds(pe, address, event.bytes))) {
      context.network.compute(served_ns);
      return pages->get(pe, address, buffer_.data(), event.bytes);
    }
    if (pages != nullptr) pages->before_direct_get(pe, address, event.bytes);
    blocks ? context.network.get(nullptr, address, event.bytes, pe)
           : context.network.get_nbi(nullptr, address, event.bytes, pe);
  }
  void write(Context& context, const TraceEvent& event) {
    const auto pe = static_cast<int>(event.target);
    const auto address = static_cast<uint64_t>(event.displacement);
    PageCache* pages = context.pages.get();
    if (event.detail == static_cast<uint8_t>(TraceWrite::fetch)) {
      if (pages != nullptr) pages->before_direct_fetch(pe, address, event.bytes);
      return context.network.get(nullptr, address, event.bytes, pe);
    }
    const bool put = event.detail == static_cast<uint8_t>(TraceWrite::put);
    if (pages != nullptr && put && event.bytes <= largest_) {
      context.network.compute(served_ns);
      return pages->put(pe, address, buffer_.data(), event.bytes);
    }
    if (pages != nullptr)
      put ? pages->before_direct_put(pe, address, event.bytes)
          : pages->before_direct_update(pe, address, event.bytes);
    context.network.put(address, nullptr, event.bytes, pe);
  }
  void sync(Context& context, TraceSync kind) {
    switch (kind) {
      case TraceSync::quiet:
      case TraceSync::release:
        if (context.pages != nullptr) context.pages->release();
        context.network.quiet();
        break;
      case TraceSync::order:
        if (context.pages != nullptr) context.pages->start_write_back();
        break;
      case TraceSync::write_back:
        for (const auto& [window, each] : contexts_)
          if (each->pages != nullptr) each->pages->start_write_back();
        break;
      default:
        return;
    }
    for (const auto& [window, each] : contexts_)
      if (each->pages != nullptr) each->pages->flag_may_follow();
  }

  const PageStudy& study_;
  const PageCacheOptions* cache_;  // null: nothing is cached
  const uint64_t largest_;
  const std::map<uint64_t, Extent>& extents_;
  PageTimes now_;
  std::vector<char> buffer_;
  std::map<uint32_t, std::unique_ptr<Context>> contexts_;
};

PageCacheOptions cache_of(const StudyOptions& options, uint64_t size) {
  PageCacheOptions cache;
  cache.page = options.library.shmem_page;
  cache.line = std::clamp<uint64_t>(options.library.shmem_line, cache.page / 64, cache.page);
  cache.size = std::max<uint64_t>(size, 8 * cache.page) / cache.page * cache.page;
  cache.dirty_pages = options.library.shmem_dirty_pages;
  cache.readahead = options.library.shmem_readahead;
  cache.longest_age_ns = 1e18;  // virtual time is not the program's time
  return cache;
}

std::string duration_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.1f} us", ns / 1e3);
}

double part_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string are_pages(const StudyOptions& options, bool* pages) {
  size_t found = 0;
  for (const std::string& path : options.traces) {
    TraceReader reader;
    std::string wrong = reader.open(path);
    if (!wrong.empty()) return wrong;
    found += !reader.header().is_mpi();
  }
  *pages = found != 0;
  return found == 0 || found == options.traces.size()
             ? ""
             : "some of these traces are of MPI and others of OpenSHMEM: give those of one run";
}

std::string run_pages(const StudyOptions& options, PageStudy* study) {
  std::string wrong = look_through(options, &study->traces);
  Looks looks;
  for (const RankTrace& trace : study->traces.ranks)
    if (wrong.empty()) wrong = look(trace, options.selection, &looks, study);
  if (!wrong.empty()) return wrong;
  const std::vector<std::map<uint64_t, Extent>>& extents = looks.extents;
  study->costs = costs_of(study->traces, looks, false);
  study->costs_with_slowest = costs_of(study->traces, looks, true);
  uint64_t touched = 0, records = 0;
  for (const auto& of_trace : extents)
    for (const auto& [segment, extent] : of_trace) touched += extent.end - extent.begin;
  touched /= std::max<size_t>(extents.size(), 1);
  for (const Amount& storage : options.storages) {
    const uint64_t size = options.storages_given ? storage.of(touched) : options.library.shmem_size;
    study->rows.push_back({cache_of(options, size).size, {}, {}});
    if (!options.storages_given) break;
  }
  for (const RankTrace& trace : study->traces.ranks) records += trace.records;
  Progress progress(options.show_progress, records * (1 + study->rows.size()));
  for (size_t rank = 0; rank < extents.size(); ++rank) {
    const RankTrace& trace = study->traces.ranks[rank];
    PageReplay uncached(*study, options, nullptr, extents[rank]);
    wrong = uncached.play(trace, options.selection, &progress);
    uncached.add_times(&study->uncached_ns);
    for (PageResult& row : study->rows) {
      const PageCacheOptions cache = cache_of(options, row.storage_bytes);
      PageReplay replay(*study, options, &cache, extents[rank]);
      if (wrong.empty()) wrong = replay.play(trace, options.selection, &progress);
      replay.add_times(&row.ns);
      replay.add_counters(&row.counters);
    }
    if (!wrong.empty()) return wrong;
  }
  return {};
}

std::string pages_text(const PageStudy& study) {
  const PageCosts& costs = study.costs;
  std::string text = fmt::format(
      "{} traces of OpenSHMEM, {} gets and {} puts, {} atomics, {} quiets, {} acquires\n"
      "a get costs {:.0f} ns + {:.4g} ns/B, a put {:.0f} ns, a quiet {:.0f} ns ({})\n\n",
      study.traces.ranks.size(), study.gets, study.puts, study.atomics, study.quiets,
      study.acquires, costs.get.latency_ns, costs.get.ns_per_byte, costs.put_ns, costs.quiet_ns,
      costs.from == "trace"   ? "measured"
      : costs.from == "model" ? "--model"
                              : "assumed");
  text += fmt::format("{:>14}  {:>7}  {:>7}  {:>12}  {:>12}  {:>12}\n", "storage", "hits%", "puts%",
                      "time", "fetches", "write-backs");
  text += fmt::format("{:>14}  {:>7}  {:>7}  {:>12}  {:>12}  {:>12}\n", "-", "0.0", "0.0",
                      duration_text(study.uncached_ns.typical), study.gets, study.puts);
  for (const PageResult& row : study.rows)
    text += fmt::format("{:>14}  {:>7.1f}  {:>7.1f}  {:>12}  {:>12}  {:>12}\n", row.storage_bytes,
                        100 * part_of(row.counters.hits, study.gets),
                        100 * part_of(row.joined_puts(), study.puts), duration_text(row.ns.typical),
                        row.counters.network_gets, row.counters.network_puts);
  return text;
}

std::string pages_csv(const PageStudy& study) {
  std::string text = "storage_bytes,hits,gets,joined_puts,puts,ns,network_gets,network_puts\n";
  text += fmt::format("0,0,{},0,{},{:.0f},{},{}\n", study.gets, study.puts,
                      study.uncached_ns.typical, study.gets, study.puts);
  for (const PageResult& row : study.rows)
    text += fmt::format("{},{},{},{},{},{:.0f},{},{}\n", row.storage_bytes, row.counters.hits,
                        study.gets, row.joined_puts(), study.puts, row.ns.typical,
                        row.counters.network_gets, row.counters.network_puts);
  return text;
}

}  // namespace nearcache::simulate
