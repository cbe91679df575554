// SPDX-License-Identifier: BSD-3-Clause

// Cost of a miss: distinct gets through the cache, compared with plain gets, pair by pair.
//
// Uses two windows over the same memory, one cached, one in mode `off`. The order within each pair
// is random; the two gets of a pair read different locations, so that neither warms the target's
// caches for the other. Without the preload object both are plain gets, and the ratio of that run
// is the error of the measurement itself.
#include <algorithm>
#include <cstdlib>

#include "bench.h"

using bench::Rows;
using bench::Window;

namespace {

constexpr int target = 1;

double one_get(MPI_Win window, unsigned char* destination, std::size_t size,
               std::size_t displacement) {
  std::int64_t start = bench::now_ns();
  MPI_Get(destination, static_cast<int>(size), MPI_BYTE, target,
          static_cast<MPI_Aint>(displacement), static_cast<int>(size), MPI_BYTE, window);
  MPI_Win_flush(target, window);
  return static_cast<double>(bench::now_ns() - start);
}

void measure(std::size_t size, std::size_t operations, Rows& rows) {
  std::size_t stride = std::max<std::size_t>(size, 64);
  Window plain(Window::Memory::created, operations * stride, 0, {{"nearcache_mode", "off"}});
  Window cached(plain, {{"nearcache_mode", "always"}});
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    bench::Random random(size);
    auto order = bench::shuffled(operations, random);
    auto* destination =
        static_cast<unsigned char*>(std::aligned_alloc(4096, (size / 4096 + 1) * 4096));
    std::vector<double> miss(operations), get(operations);
    for (int i = 0; i < 200; ++i)
      one_get(plain.handle(), destination, size, random.below(operations) * stride);
    nearcache_stats stats;
    for (std::size_t i = 0; i < operations; ++i) {
      std::size_t here = order[i] * stride;
      std::size_t there = order[(i + operations / 2) % operations] * stride;
      bool miss_first = random.below(2);
      if (miss_first) miss[i] = one_get(cached.handle(), destination, size, here);
      get[i] = one_get(plain.handle(), destination, size, there);
      if (!miss_first) miss[i] = one_get(cached.handle(), destination, size, here);
    }
    bool loaded = bench::statistics(cached.handle(), stats);
    rows.begin();
    rows.field("size", static_cast<double>(size));
    rows.field("loaded", loaded);
    rows.counters(stats);
    rows.field("miss_ns", miss);
    rows.field("get_ns", get);
    std::free(destination);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("operations", 20000, "Gets, where they are small"),
       bench::number("most-bytes", 256 << 20, "What they may fetch together"),
       bench::numbers("sizes", "8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536",
                      "Bytes of a get")});
  Rows rows;
  auto small = static_cast<std::size_t>(arguments.number("operations"));
  auto most_bytes = static_cast<std::size_t>(arguments.number("most-bytes"));
  for (auto size : arguments.numbers("sizes"))
    measure(static_cast<std::size_t>(size), std::min<std::size_t>(small, most_bytes / size), rows);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
