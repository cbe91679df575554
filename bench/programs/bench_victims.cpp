// SPDX-License-Identifier: BSD-3-Clause

// A full storage under different victim selection schemes (CLaMPI, Fig. 10 and 11): feeds the gets
// of the micro-benchmark directly to the library's engine. No get is issued and no time is
// measured, so a run yields the same figures everywhere.
//
// The engine does not count how many index slots the choice of a victim visits, but the number
// follows from the index: this program computes its expectation over all slots at which the choice
// may begin, at every --look-th miss that found no room.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/region.h"
#include "bench.h"
#include "cache/get/policy/policy_view.h"
#include "gets.h"

using bench::Gets;
using bench::Rows;
using nearcache::GetCache;

namespace {

struct Configuration {
  std::string policy;
  std::uint64_t index, storage, sample;
};

nearcache::Options options_of(const Configuration& configuration) {
  nearcache::Options options;
  const std::string wrong = options.set("policy", configuration.policy);
  if (wrong.empty()) return options;
  std::fprintf(stderr, "bench_victims: %s\n", wrong.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  return options;
}

struct Visits {
  // means per choice: slots visited, and how many of them hold an entry
  double visited = 0, used = 0;
};

// A choice visits `sample` slots starting at a random one, and continues until it finds an entry.
Visits expected_visits(const nearcache::Index& index, std::uint64_t sample) {
  const std::uint64_t slots = index.slot_count();
  std::vector<std::uint64_t> used;
  for (std::uint64_t slot = 0; slot < slots; ++slot)
    if (index.at(slot) != nearcache::no_entry) used.push_back(slot);
  if (used.empty()) return {};
  double visited = 0;
  for (std::uint64_t start = 0, next = 0; start < slots; ++start) {
    while (next < used.size() && used[next] < start) ++next;
    const std::uint64_t first = next < used.size() ? used[next] : used[0] + slots;
    visited += static_cast<double>(std::min(slots, std::max(sample, first - start + 1)));
  }
  const auto all = static_cast<double>(slots);
  const double load = static_cast<double>(used.size()) / all;
  return {visited / all, std::max(1.0, load * static_cast<double>(std::min(sample, slots)))};
}

class Run {
 public:
  explicit Run(const Configuration& configuration) : sample_(configuration.sample) {
    nearcache::GetCacheSettings settings;
    settings.policy = options_of(configuration).policy;
    settings.storage_bytes = configuration.storage;
    settings.index_capacity = configuration.index;
    settings.sample = static_cast<std::uint32_t>(configuration.sample);
    settings.tuner.adaptive = false;
    const GetCache::Geometry geometry{configuration.index, configuration.storage};
    if (!region_.reserve(GetCache::region_bytes(geometry))) {
      std::fprintf(stderr, "bench_victims: no memory for an engine\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    cache_ = GetCache::create(region_.base(), geometry, settings);
  }

  void get(const bench::Place& place, std::size_t look) {
    const nearcache::Key key{static_cast<std::int64_t>(place.displacement), 1, 0};
    const std::uint64_t hash = nearcache::hash_key(key);
    const auto bytes = static_cast<std::uint64_t>(place.size);
    const std::int64_t from = key.displacement, to = from + place.size;
    ++gets_;
    if (cache_->lookup(hash, key, bytes, from, to).found == GetCache::Found::full) {
      ++hits_;
    } else {
      count(cache_->insert(hash, key, bytes, 0), bytes, look);
    }
    if (turned_away_ == 0) return;
    fill_sum_ += fill();
    entries_sum_ += static_cast<double>(cache_->entries());
    ++full_;
  }

  double fill() const {
    return static_cast<double>(cache_->stored_bytes()) /
           static_cast<double>(cache_->storage_bytes());
  }
  bool full() const { return turned_away_ != 0; }

  void write(Rows& rows) const {
    const auto mean = [](double sum, std::uint64_t count) {
      return count == 0 ? 0 : sum / static_cast<double>(count);
    };
    rows.field("gets", static_cast<double>(gets_));
    rows.field("hits", static_cast<double>(hits_));
    rows.field("conflicting", static_cast<double>(conflicting_));
    rows.field("turned_away", static_cast<double>(turned_away_));
    rows.field("evictions", static_cast<double>(cache_->evictions()));
    rows.field("mean_fill", mean(fill_sum_, full_));
    rows.field("mean_entries", mean(entries_sum_, full_));
    rows.field("visited", mean(visited_, looks_));
    rows.field("visited_used", mean(used_, looks_));
  }

 private:
  void count(const GetCache::Inserted& inserted, std::uint64_t bytes, std::size_t look) {
    if (inserted.entry != nearcache::no_entry)
      cache_->complete(inserted.entry, bytes, cache_->writes().now());
    if (inserted.how == GetCache::Insert::direct) return;
    if (inserted.how == GetCache::Insert::conflicting) {
      ++conflicting_;
      return;
    }
    if (turned_away_++ % look != 0) return;
    const Visits visits = expected_visits(nearcache::PolicyView(*cache_).index(), sample_);
    visited_ += visits.visited;
    used_ += visits.used;
    ++looks_;
  }

  nearcache::Region region_;
  GetCache* cache_ = nullptr;
  std::uint64_t sample_;
  std::uint64_t gets_ = 0, hits_ = 0, conflicting_ = 0, turned_away_ = 0, full_ = 0, looks_ = 0;
  double fill_sum_ = 0, entries_sum_ = 0, visited_ = 0, used_ = 0;
};

// Records the fill level by the number of the get, starting at the first get that found no room.
void replay(const Configuration& configuration, const Gets& gets, std::size_t every,
            std::size_t look, Rows& rows) {
  Run run(configuration);
  std::vector<double> at, fill;
  for (std::size_t i = 0; i < gets.sequence.size(); ++i) {
    run.get(gets.sequence[i], look);
    if (!run.full() || every == 0 || i % every != every - 1) continue;
    at.push_back(static_cast<double>(i + 1));
    fill.push_back(run.fill());
  }
  rows.begin();
  rows.field("policy", configuration.policy);
  rows.field("index", static_cast<double>(configuration.index));
  rows.field("storage", static_cast<double>(configuration.storage));
  rows.field("distinct", static_cast<double>(gets.distinct));
  run.write(rows);
  rows.field("at", at);
  rows.field("fill", fill);
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    result.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("distinct", 1000, "Different places"),
       bench::number("samples", 100000, "Gets"), bench::number("seed", 1, "Of the random gets"),
       bench::number("every", 0, "Gets between looks at the storage; 0: none"),
       bench::number("look", 100, "Gets between looks"),
       bench::number("sample", 16, "Entries that a victim is chosen from"),
       bench::number("percent", 25, "Storage, of what all places hold"),
       bench::numbers("indices", "1500", "Entries of the index"),
       bench::text("policies", "rate", "Policies to compare")});
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  Rows rows;
  if (me == 0) {
    const Gets gets = bench::normal_gets(static_cast<int>(arguments.number("distinct")),
                                         arguments.number("samples"),
                                         static_cast<std::uint64_t>(arguments.number("seed")));
    const auto every = static_cast<std::size_t>(arguments.number("every"));
    const auto look = static_cast<std::size_t>(std::max<std::int64_t>(1, arguments.number("look")));
    const auto sample = static_cast<std::uint64_t>(arguments.number("sample"));
    const std::uint64_t storage =
        gets.window_bytes * static_cast<std::uint64_t>(arguments.number("percent")) / 100;
    for (auto index : arguments.numbers("indices"))
      for (const std::string& policy : words(arguments.text("policies")))
        replay({policy, static_cast<std::uint64_t>(index), storage, sample}, gets, every, look,
               rows);
  }
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
