#include "simulate/summary.h"

#include <bit>
#include <memory>
#include <unordered_map>

#include "cache/entry.h"
#include "core/report.h"
#include "simulate/key_table.h"
#include "simulate/output_json.h"

namespace nearcache::simulate {
namespace {

constexpr int page_bits = 12;  // owners' stores are noticed by pages

// When pages of a window were read, by any rank.
using PagesRead = std::unordered_map<uint32_t, std::map<int64_t, Span>>;  // by target, by page

struct Write {
  uint32_t target;
  int64_t from, to;
  uint64_t since, until;  // CLOCK_REALTIME
  bool by_owner;
};

// One window of one rank, while its trace is walked through.
class WindowCensus {
 public:
  explicit WindowCensus(bool keep_places) : keep_places_(keep_places) {}

  void get(const TraceEvent& get, uint32_t own_rank, uint64_t now) {
    if (get.target == own_rank) {
      ++facts.own_gets;
      return;
    }
    ++facts.gets;
    facts.bytes += get.bytes;
    ++facts.outcomes[get.detail];
    const size_t size = get.bytes <= 1 ? 0 : std::min<size_t>(std::bit_width(get.bytes - 1), WindowFacts::size_classes - 1);
    ++facts.sizes[size];
    facts.size_bytes[size] += get.bytes;
    facts.reads.add(now);
    const uint32_t number = table_.number_of(hash_key({get.displacement, get.target, get.layout}));
    if (number == keys_.size()) keys_.emplace_back();
    ++keys_[number].times;
    keys_[number].bytes = std::max(keys_[number].bytes, get.bytes);
    if (keep_places_) note_place(get, number, now);
  }

  void write(const Write& write) {
    writes.push_back(write);
    facts.writes.add(Span{write.since, write.until});
    const auto bytes = static_cast<uint64_t>(write.to) - static_cast<uint64_t>(write.from);
    ++(write.by_owner ? facts.owner_writes : facts.own_writes);
    (write.by_owner ? facts.owner_write_bytes : facts.own_write_bytes) += bytes;
  }

  void finish(PagesRead* pages) {
    for (const Key& key : keys_) {
      ++facts.repeats[key.times];
      facts.distinct_bytes += key.bytes;
    }
    facts.distinct_keys = keys_.size();
    for (const Place& place : places_) {
      if (place.to <= place.from) continue;
      std::map<int64_t, Span>& of_target = (*pages)[place.target];
      for (int64_t page = place.from >> page_bits; page <= (place.to - 1) >> page_bits; ++page) of_target[page].add(place.read);
    }
  }

  WindowFacts facts;
  std::vector<Write> writes;

 private:
  struct Key {
    uint64_t times = 0, bytes = 0;
  };
  struct Place {
    uint32_t target = 0;
    int64_t from = INT64_MAX, to = INT64_MIN;
    Span read;
  };

  void note_place(const TraceEvent& get, uint32_t number, uint64_t now) {
    constexpr int64_t most_bytes = int64_t{1} << 32;  // beyond, only its beginning is looked at: pages are counted one by one
    if (number == places_.size()) places_.emplace_back();
    Place& place = places_[number];
    place.target = get.target;
    place.from = std::min(place.from, get.from);
    place.to = std::min(std::max(place.to, get.to), place.from + most_bytes);
    place.read.add(now);
  }

  const bool keep_places_;
  KeyTable table_;
  std::vector<Key> keys_;
  std::vector<Place> places_;
};

class SummaryRun {
 public:
  SummaryRun(const StudyOptions& options, Summaries* summaries)
      : options_(options), summaries_(*summaries), progress_(options.show_progress, steps()) {}

  std::string run() {
    for (const RankTrace& trace : summaries_.traces.ranks) announce(trace);
    pages_.resize(summaries_.windows.size());
    writes_.resize(summaries_.windows.size());
    for (const RankTrace& trace : summaries_.traces.ranks) {
      std::string wrong = rank(trace);
      if (!wrong.empty()) return wrong;
    }
    for (size_t at = 0; at < writes_.size(); ++at) {
      for (const Write& write : writes_[at]) summaries_.windows[at].facts.written_while_read += is_read_around(pages_[at], write);
    }
    return {};
  }

 private:
  uint64_t steps() const {
    uint64_t records = 0;
    for (const RankTrace& trace : summaries_.traces.ranks) records += trace.records;
    return records;
  }

  void announce(const RankTrace& trace) {
    for (size_t at = 0; at < trace.windows.size(); ++at) {
      const TraceWindowInfo& info = trace.windows[at];
      if (!options_.selection.has(info)) continue;
      const auto [place, is_new] = by_id_.try_emplace(info.id, summaries_.windows.size());
      if (is_new) {
        summaries_.windows.emplace_back().id = info.id;
        has_writes_.push_back(false);
      }
      WindowSummary& window = summaries_.windows[place->second];
      has_writes_[place->second] = has_writes_[place->second] || trace.writes[at] > 0;
      if (!info.announced) continue;
      window.announced = true;
      window.name = info.name;
      window.mode = info.mode;
      window.unit = info.unit;
      window.ranks_in_window = info.ranks;
      window.bytes += info.own_bytes;
    }
  }

  std::string rank(const RankTrace& trace) {
    TraceReader reader;
    std::string wrong = reader.open(trace.path);
    if (!wrong.empty()) return wrong;
    std::vector<std::unique_ptr<WindowCensus>> parts(trace.windows.size());
    for (size_t at = 0; at < trace.windows.size(); ++at) {
      if (options_.selection.has(trace.windows[at])) parts[at] = std::make_unique<WindowCensus>(has_writes_[by_id_[trace.windows[at].id]]);
    }
    TraceEvent event;
    for (uint64_t count = 1; reader.next(&event); ++count) {
      note(trace, event, event.window < parts.size() ? parts[event.window].get() : nullptr);
      if (count % 65536 == 0) progress_.advance(65536);
    }
    progress_.advance(trace.records % 65536);
    for (size_t at = 0; at < parts.size(); ++at) {
      if (parts[at] != nullptr) add(trace.header.rank, by_id_[trace.windows[at].id], parts[at].get());
    }
    return reader.error();
  }

  void note(const RankTrace& trace, const TraceEvent& event, WindowCensus* part) {
    const uint64_t now = trace.header.start_ns + event.ns;
    summaries_.span.add(now);
    const bool is_acquire = event.kind == TraceKind::sync && event.detail == static_cast<uint8_t>(TraceSync::acquire);
    if (is_acquire) ++summaries_.acquires;
    if (part == nullptr || is_acquire) return;
    if (event.kind == TraceKind::get) part->get(event, trace.windows[event.window].rank, now);
    if (event.kind == TraceKind::sync) ++part->facts.syncs[event.detail];
    if (event.kind == TraceKind::write) part->write({event.target, event.from, event.to, now, now, false});
    if (event.kind == TraceKind::owner_write) {
      part->write({trace.windows[event.window].rank, event.displacement, event.displacement + static_cast<int64_t>(event.bytes),
                   now - std::min(now, event.value), now, true});
    }
  }

  void add(uint32_t rank, size_t at, WindowCensus* part) {
    part->finish(&pages_[at]);
    WindowSummary& window = summaries_.windows[at];
    window.facts += part->facts;
    writes_[at].insert(writes_[at].end(), part->writes.begin(), part->writes.end());
    window.ranks.push_back({rank, std::move(part->facts)});
  }

  // Was a page of it read before the write and after, by whomever?
  static bool is_read_around(const PagesRead& pages, const Write& write) {
    const auto of_target = pages.find(write.target);
    if (of_target == pages.end() || write.to <= write.from) return false;
    const int64_t last = (write.to - 1) >> page_bits;
    for (auto at = of_target->second.lower_bound(write.from >> page_bits); at != of_target->second.end() && at->first <= last; ++at) {
      if (at->second.first <= write.until && at->second.last >= write.since) return true;
    }
    return false;
  }

  const StudyOptions& options_;
  Summaries& summaries_;
  Progress progress_;
  std::unordered_map<uint64_t, size_t> by_id_;
  std::vector<bool> has_writes_;
  std::vector<PagesRead> pages_;
  std::vector<std::vector<Write>> writes_;
};

}  // namespace

WindowFacts& WindowFacts::operator+=(const WindowFacts& other) {
  for (const auto field : {&WindowFacts::gets, &WindowFacts::bytes, &WindowFacts::own_gets, &WindowFacts::distinct_keys, &WindowFacts::distinct_bytes,
                           &WindowFacts::own_writes, &WindowFacts::own_write_bytes, &WindowFacts::owner_writes, &WindowFacts::owner_write_bytes,
                           &WindowFacts::written_while_read})
    this->*field += other.*field;
  for (const auto& [times, keys] : other.repeats) repeats[times] += keys;
  const auto add = [](auto* to, const auto& from) {
    for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
  };
  add(&sizes, other.sizes);
  add(&size_bytes, other.size_bytes);
  add(&outcomes, other.outcomes);
  add(&syncs, other.syncs);
  reads.add(other.reads);
  writes.add(other.writes);
  return *this;
}

std::string run_summary(const StudyOptions& options, Summaries* summaries) {
  std::string wrong = look_through(options, &summaries->traces);
  if (!wrong.empty()) return wrong;
  return SummaryRun(options, summaries).run();
}

}  // namespace nearcache::simulate
