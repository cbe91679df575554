// SPDX-License-Identifier: BSD-3-Clause

// Cost of a hit: get + flush of resident entries in random order, compared with memcpy of the same
// bytes.
//
// Blocks of the two alternate, so that other activity of the machine affects both. The memcpy reads
// from a set laid out like the cache's storage (16-byte granules), so the footprints are equal.
// With --shared 1, blocks alternate between a window cached by the rank alone and one cached
// jointly by the node's ranks (option share).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bench.h"

using bench::Random;
using bench::Rows;
using bench::Window;

namespace {

constexpr int target = 1;
constexpr std::size_t granule = 16;

struct Block {
  MPI_Win window;
  const unsigned char* source;
  unsigned char* destination;
  const std::uint32_t* order;
  std::size_t operations;
  std::size_t size;
  std::size_t stride;
};

// Makes the compiler assume that all memory is read here, so that it cannot eliminate a copy.
inline void used(void* pointer) { asm volatile("" : : "r"(pointer) : "memory"); }

__attribute__((always_inline)) inline void get_each(const Block& block) {
  for (std::size_t i = 0; i < block.operations; ++i) {
    MPI_Get(block.destination, static_cast<int>(block.size), MPI_BYTE, target,
            static_cast<MPI_Aint>(block.order[i] * block.stride), static_cast<int>(block.size),
            MPI_BYTE, block.window);
    MPI_Win_flush(target, block.window);
    used(block.destination);
  }
}

}  // namespace

// Outside the namespace and never inlined: `bench/run instructions` counts instructions in these
// two functions by name.
extern "C" __attribute__((noinline)) void bench_hit_block(const Block& block) { get_each(block); }

extern "C" __attribute__((noinline)) void bench_memcpy_block(const Block& block) {
  for (std::size_t i = 0; i < block.operations; ++i) {
    std::memcpy(block.destination, block.source + block.order[i] * block.stride, block.size);
    used(block.destination);
  }
}

namespace {

std::int64_t timed(void (*work)(const Block&), const Block& block) {
  std::int64_t start = bench::now_ns();
  work(block);
  return bench::now_ns() - start;
}

// Makes passes over all entries until a pass has only hits, because a cache need not admit data on
// first access. Each entry is fetched twice in a row, so that the cache learns to expect repeats.
// Returns false if no such pass occurs, as without Nearcache.
bool fill(Block block, const std::vector<std::uint32_t>& order, std::size_t entries) {
  std::vector<std::uint32_t> twice;
  for (std::size_t i = 0; i < entries; ++i) twice.insert(twice.end(), 2, order[i]);
  block.order = twice.data();
  block.operations = twice.size();
  for (int pass = 0; pass < 12; ++pass) {
    nearcache_stats before, after;
    if (!bench::statistics(block.window, before)) return false;
    get_each(block);  // not bench_hit_block: misses must not be counted there
    bench::statistics(block.window, after);
    if (after.hits_full - before.hits_full == twice.size()) return true;
  }
  return false;
}

bench::InfoKeys keys(std::size_t index, std::size_t storage) {
  return {{"nearcache_mode", "always"},
          {"nearcache_adaptive", "false"},
          {"nearcache_index", std::to_string(index)},
          {"nearcache_storage", std::to_string(storage)}};
}

struct Samples {
  std::vector<double> hit, copy;
};

Samples interleaved(Block block, const std::vector<std::uint32_t>& order, int blocks, bool resident,
                    Random& random) {
  Samples samples;
  std::size_t at = 0;
  for (int i = 0; i < blocks; ++i) {
    if (at + block.operations > order.size()) at = 0;
    block.order = order.data() + at;
    at += block.operations;
    double per_operation = 1.0 / static_cast<double>(block.operations);
    bool hit_first = random.below(2);
    for (bool hit : {hit_first, !hit_first}) {
      if (hit && !resident) continue;  // no hits possible: measure only memcpy
      auto& series = hit ? samples.hit : samples.copy;
      series.push_back(
          static_cast<double>(timed(hit ? bench_hit_block : bench_memcpy_block, block)) *
          per_operation);
    }
  }
  return samples;
}

void measure(std::size_t size, std::size_t entries, int blocks, Rows& rows) {
  std::size_t stride = (size + granule - 1) / granule * granule;
  std::size_t bytes = entries * stride;
  // Leave room to spare, so that every entry is resident: index at half load, storage with an
  // eighth more.
  Window window(Window::Memory::created, bytes, 0, keys(entries * 2, bytes + bytes / 8 + 65536));
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    Random random(size * 31 + entries);
    auto order = bench::shuffled(entries, random);
    auto* source = static_cast<unsigned char*>(std::aligned_alloc(4096, (bytes / 4096 + 1) * 4096));
    auto* destination =
        static_cast<unsigned char*>(std::aligned_alloc(4096, (size / 4096 + 1) * 4096));
    std::memset(source, 1, bytes);
    // Blocks of about 0.2 to 2 ms of copying at most: long compared with the clock's resolution,
    // short compared with a time slice.
    std::size_t operations =
        std::min<std::size_t>({1000, entries, std::max<std::size_t>(32, (4u << 20) / size)});
    Block block{window.handle(), source, destination, order.data(), operations, size, stride};
    bool resident = fill(block, order, entries);
    MPI_Barrier(MPI_COMM_WORLD);  // the target polls until here, because every miss needs it
    bench::quiet_barrier();
    interleaved(block, order, blocks / 10 + 1, resident, random);
    nearcache_stats before, after;
    bool loaded = bench::statistics(window.handle(), before);
    Samples samples = interleaved(block, order, blocks, resident, random);
    bench::statistics(window.handle(), after);
    rows.begin();
    rows.field("size", static_cast<double>(size));
    rows.field("entries", static_cast<double>(entries));
    rows.field("block_operations", static_cast<double>(operations));
    rows.field("loaded", loaded);
    rows.field("resident", resident);
    rows.field("hits", static_cast<double>(after.hits_full - before.hits_full));
    // Calls passed down to MPI nevertheless, for progress.
    rows.field("calls_passed", static_cast<double>(after.progress_calls - before.progress_calls +
                                                   after.syncs_passed - before.syncs_passed));
    rows.field("hit_ns", samples.hit);
    rows.field("memcpy_ns", samples.copy);
    std::free(source);
    std::free(destination);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    bench::quiet_barrier();
  }
  bench::quiet_barrier();
}

// One window of a pair, with its results.
struct Side {
  Side(const char* share, std::size_t entries, std::size_t bytes)
      : window(Window::Memory::created, bytes, 0, with(share, entries, bytes)) {}
  static bench::InfoKeys with(const char* share, std::size_t entries, std::size_t bytes) {
    bench::InfoKeys all = keys(entries * 2, bytes + bytes / 8 + 65536);
    all.push_back({"nearcache_share", share});
    return all;
  }
  Window window;
  std::vector<double> hit;
};

void measure_pair(std::size_t size, std::size_t entries, int blocks, Rows& rows) {
  const std::size_t stride = (size + granule - 1) / granule * granule;
  Side own("off", entries, entries * stride), shared("node", entries, entries * stride);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    Random random(size * 31 + entries);
    const auto order = bench::shuffled(entries, random);
    std::vector<unsigned char> destination(size);
    bool resident = true;
    const auto block_of = [&](Side& side) {
      return Block{
          side.window.handle(), nullptr, destination.data(), order.data(), entries, size, stride};
    };
    for (Side* side : {&own, &shared}) resident = fill(block_of(*side), order, entries) && resident;
    MPI_Barrier(MPI_COMM_WORLD);  // the target polls until here, because every miss needs it
    bench::quiet_barrier();
    for (int i = -blocks / 10; i < blocks; ++i) {
      const bool own_first = random.below(2);
      for (Side* side : {own_first ? &own : &shared, own_first ? &shared : &own}) {
        const auto ns = static_cast<double>(timed(bench_hit_block, block_of(*side)));
        if (i >= 0) side->hit.push_back(ns / static_cast<double>(entries));
      }
    }
    rows.begin();
    rows.field("size", static_cast<double>(size));
    rows.field("resident", resident);
    rows.field("private_ns", own.hit);
    rows.field("shared_ns", shared.hit);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    bench::quiet_barrier();
  }
  bench::quiet_barrier();
}

// Measures the metadata per entry with the index filled to 90% of its capacity.
void metadata(std::size_t index, Rows& rows) {
  constexpr std::size_t size = 8;
  std::size_t bytes = index * 2 * granule;
  Window window(Window::Memory::created, bytes, 0, keys(index, bytes * 2));
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  nearcache_stats stats;
  if (me == 0 && bench::statistics(window.handle(), stats)) {
    Random random(1);
    std::size_t entries = stats.index_entries ? stats.index_entries * 9 / 10 : index * 9 / 10;
    entries = std::min(entries, index * 2);
    auto order = bench::shuffled(entries, random);
    unsigned char destination[size];
    Block block{window.handle(), nullptr, destination, order.data(), entries, size, granule};
    fill(block, order, entries);
    bench::statistics(window.handle(), stats);
    rows.begin();
    rows.field("metadata", 1);
    rows.counters(stats);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("most-bytes", 512 << 20,
                     "What the entries of one measurement may hold together"),
       bench::numbers("entries", "1000,100000", "Entries in the cache"),
       bench::numbers("sizes", "8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536",
                      "Bytes of a get"),
       bench::number("blocks", 1000, "Blocks of gets"),
       bench::number("shared", 0, "1: hits in a cache of the rank's own and in one of the node's"),
       bench::number("metadata-index", 65536,
                     "Entries of the index whose memory is measured; 0: none")});
  Rows rows;
  auto most_bytes = static_cast<std::size_t>(arguments.number("most-bytes"));
  const auto run = arguments.number("shared") != 0 ? measure_pair : measure;
  for (auto entries : arguments.numbers("entries"))
    for (auto size : arguments.numbers("sizes"))
      run(static_cast<std::size_t>(size), std::min<std::size_t>(entries, most_bytes / size),
          static_cast<int>(arguments.number("blocks")), rows);
  if (auto index = arguments.number("metadata-index"))
    metadata(static_cast<std::size_t>(index), rows);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
