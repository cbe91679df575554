// SPDX-License-Identifier: BSD-3-Clause

// The time of one sequence of gets, by the initial sizes of index and storage, fixed and adaptive
// (CLaMPI, Fig. 9 and 15).
//
// All configurations run in one process, each with its own window over the same memory. They take
// turns and start at a different one in every round, so that a disturbance of the machine affects
// all of them.
#include <algorithm>
#include <cstdlib>

#include "bench.h"
#include "common/cache_cost.h"
#include "gets.h"

using bench::Gets;
using bench::Rows;
using bench::Window;

namespace {

constexpr int target = 1;

struct Configuration {
  bool adaptive;
  std::int64_t index, storage;
  std::vector<double> elapsed_ns;
  nearcache_stats stats;
};

std::vector<Configuration> configurations(const bench::Arguments& arguments) {
  std::vector<Configuration> result;
  for (bool adaptive : {false, true})
    for (auto storage : arguments.numbers(adaptive ? "adaptive-storages" : "fixed-storages"))
      for (auto index : arguments.numbers("indices"))
        result.push_back({adaptive, index, storage, {}, {}});
  return result;
}

// In a simulator, the cache's own cost is charged at the end; with real MPI libraries that does
// nothing.
double timed(MPI_Win window, unsigned char* destination, const Gets& gets) {
  apps::CacheTime cost;
  cost.charge();  // discards the cost of earlier work
  std::int64_t start = bench::now_ns();
  for (const bench::Place& place : gets.sequence) {
    MPI_Get(destination, place.size, MPI_BYTE, target, static_cast<MPI_Aint>(place.displacement),
            place.size, MPI_BYTE, window);
    MPI_Win_flush(target, window);
  }
  cost.charge();
  return static_cast<double>(bench::now_ns() - start);
}

void run(Configuration& configuration, const Window& memory, unsigned char* destination,
         const Gets& gets, int me) {
  Window window(memory, {{"nearcache_mode", "always"},
                         {"nearcache_adaptive", configuration.adaptive ? "true" : "false"},
                         {"nearcache_index", std::to_string(configuration.index)},
                         {"nearcache_storage", std::to_string(configuration.storage)}});
  if (me == 0) {
    configuration.elapsed_ns.push_back(timed(window.handle(), destination, gets));
    bench::statistics(window.handle(), configuration.stats);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::numbers("indices", "200,500,1000,1500,3000,8000", "Entries of the index"),
       bench::number("seed", 1, "Of the random gets"),
       bench::text("gets", "normal", "normal or lcc"),
       bench::number("scale", 14, "lcc: vertices, a power of two"),
       bench::number("samples", 20000, "normal: gets"),
       bench::number("rounds", 1, "Runs of each configuration"),
       bench::numbers("adaptive-storages", "16777216", "Bytes of storage to begin with, adaptive"),
       bench::numbers("fixed-storages", "16777216", "Bytes of storage, not adaptive")});
  auto seed = static_cast<std::uint64_t>(arguments.number("seed"));
  Gets gets = arguments.text("gets") == "lcc"
                  ? bench::lcc_gets(static_cast<int>(arguments.number("scale")), seed)
                  : bench::normal_gets(1000, arguments.number("samples"), seed);
  Rows rows;
  {
    Window memory(Window::Memory::created, gets.window_bytes, 0, {});
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    auto* destination = static_cast<unsigned char*>(std::aligned_alloc(4096, std::size_t{1} << 22));
    auto all = configurations(arguments);
    for (auto round = arguments.number("rounds"); round > 0; --round) {
      std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 3),
                  all.end());
      for (Configuration& configuration : all) run(configuration, memory, destination, gets, me);
    }
    for (const Configuration& configuration : all) {
      rows.begin();
      rows.field("gets", static_cast<double>(gets.sequence.size()));
      rows.field("distinct", static_cast<double>(gets.distinct));
      rows.field("distinct_bytes", static_cast<double>(gets.distinct_bytes));
      rows.field("adaptive", configuration.adaptive ? 1 : 0);
      rows.field("index", static_cast<double>(configuration.index));
      rows.field("storage", static_cast<double>(configuration.storage));
      rows.field("elapsed_ns", configuration.elapsed_ns);
      rows.counters(configuration.stats);
    }
    std::free(destination);
  }
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
