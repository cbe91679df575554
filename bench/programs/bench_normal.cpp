// SPDX-License-Identifier: BSD-3-Clause

// CLaMPI's micro-benchmark (section IV.A of the paper): N distinct gets of 2^0..2^16 bytes, sampled
// Z times from a normal distribution N(N/2, N/4) that is truncated to the range by redrawing.
//
// --observe 1 checks every fetched byte and records the fill level of the storage every 100 gets;
// timed runs do neither. --fit 1 measures plain gets of each size, from which the driver derives L
// and G of this network.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench.h"
#include "gets.h"

using bench::largest_power;
using bench::Place;
using bench::Random;
using bench::Rows;
using bench::Window;

namespace {

constexpr int target = 1;

void fetch(MPI_Win window, unsigned char* destination, const Place& place) {
  MPI_Get(destination, place.size, MPI_BYTE, target, static_cast<MPI_Aint>(place.displacement),
          place.size, MPI_BYTE, window);
  MPI_Win_flush(target, window);
}

void check(const unsigned char* destination, const Place& place) {
  for (int i = 0; i < place.size; ++i)
    if (destination[i] != bench::pattern(place.displacement + static_cast<std::size_t>(i))) {
      std::fprintf(stderr, "bench_normal: wrong byte %d of %d fetched from displacement %zu\n", i,
                   place.size, place.displacement);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

void observe(MPI_Win window, unsigned char* destination, const std::vector<Place>& set,
             const std::vector<int>& samples, Rows& rows) {
  std::vector<double> fill, storage, rejected;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Place& place = set[static_cast<std::size_t>(samples[i])];
    fetch(window, destination, place);
    check(destination, place);
    nearcache_stats stats;
    if (i % 100 == 99 && bench::statistics(window, stats)) {
      fill.push_back(
          stats.storage_bytes ? static_cast<double>(stats.stored_bytes) / stats.storage_bytes : 0);
      rejected.push_back(static_cast<double>(stats.capacity + stats.failing));
    }
  }
  rows.field("fill", fill);
  rows.field("capacity_or_failing", rejected);
}

double timed(MPI_Win window, unsigned char* destination, const std::vector<Place>& set,
             const std::vector<int>& samples) {
  std::int64_t start = bench::now_ns();
  for (int sample : samples) fetch(window, destination, set[static_cast<std::size_t>(sample)]);
  return static_cast<double>(bench::now_ns() - start);
}

void fit(MPI_Win window, unsigned char* destination, Rows& rows) {
  for (int power = 0; power <= largest_power; ++power) {
    std::vector<double> times;
    for (int i = 0; i < 300; ++i) {
      std::int64_t start = bench::now_ns();
      fetch(window, destination, {0, 1 << power});
      times.push_back(static_cast<double>(bench::now_ns() - start));
    }
    rows.begin();
    rows.field("size", static_cast<double>(1 << power));
    rows.field("get_ns", times);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("distinct", 1000, "Different places"),
       bench::number("seed", 1, "Of the random gets"), bench::number("samples", 100000, "Gets"),
       bench::number("adaptive", 0, "1: the cache may change its sizes"),
       bench::number("percent", 100, "Storage, of what all places hold"),
       bench::number("fit", 0, "1: plain gets of each size, for the cost model"),
       bench::number("observe", 0, "1: looks at the sizes meanwhile")});
  int count = static_cast<int>(arguments.number("distinct"));
  Random random(static_cast<std::uint64_t>(arguments.number("seed")));
  auto set = bench::places(count, random);
  std::vector<int> samples;
  for (auto i = arguments.number("samples"); i > 0; --i)
    samples.push_back(bench::normal_index(count, random));
  std::size_t bytes = set.back().displacement + static_cast<std::size_t>(set.back().size);

  bench::InfoKeys keys{
      {"nearcache_mode", "always"},
      {"nearcache_adaptive", arguments.number("adaptive") ? "true" : "false"},
      {"nearcache_storage", std::to_string(bytes * arguments.number("percent") / 100)}};
  Rows rows;
  {
    Window window(Window::Memory::created, std::max<std::size_t>(bytes, 1 << largest_power), 0,
                  keys);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
      auto* destination = static_cast<unsigned char*>(std::aligned_alloc(4096, 1 << largest_power));
      if (arguments.number("fit")) {
        fit(window.handle(), destination, rows);
      } else {
        rows.begin();
        rows.field("set_bytes", static_cast<double>(bytes));
        if (arguments.number("observe"))
          observe(window.handle(), destination, set, samples, rows);
        else
          rows.field("elapsed_ns", timed(window.handle(), destination, set, samples));
        nearcache_stats stats;
        rows.field("loaded", bench::statistics(window.handle(), stats));
        rows.counters(stats);
      }
      std::free(destination);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
