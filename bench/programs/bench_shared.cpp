// SPDX-License-Identifier: BSD-3-Clause

// The shared cache of a node (option share), used as its ranks use it but without MPI. Measures
// hits of the same entries by one process, by two concurrently, and by two concurrently with a
// cache each (because two cores may share more than memory); and the handling of misses in two
// concurrent processes, with a cache each and with a common cache.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "base/region.h"
#include "cache/get/cached_window.h"
#include "cache/shared/shared_cache.h"

namespace {

using nearcache::CachedWindow;
using nearcache::Key;
using nearcache::RemoteGet;
using nearcache::SharedCache;
using nearcache::Targets;

constexpr uint32_t far_target = 9;  // one of ten ranks
constexpr uint64_t entries = 1000;
// for misses, the cache has room for this many entries, and at least this much storage: smaller
// caches have fewer shards than their ranks need
constexpr uint64_t kept_entries = 32768, least_storage = 2 << 20;
constexpr int processes = 2;
constexpr int most_places = 4096;  // number of places where the processes can meet

double now_ns() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

// Shared memory for meeting points and for the processes' results.
struct Board {
  std::atomic<uint32_t> arrived[most_places];
  double ns[processes][most_places];  // for hits: three values per block
};

template <class Value>
Value* map_shared(uint64_t bytes) {
  void* at = mmap(nearcache::Region::reserve_addresses(bytes), bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) std::perror("bench_shared: mmap"), std::exit(1);
  return static_cast<Value*>(at);
}

void meet(Board* board, int place, uint32_t count) {
  board->arrived[place].fetch_add(1);
  while (board->arrived[place].load() < count) {
  }
}

SharedCache::Plan plan_for(uint64_t storage, uint64_t index) {
  SharedCache::Plan plan;
  plan.ranks = processes;
  plan.settings.storage_bytes = storage;
  plan.settings.index_capacity = index;
  plan.settings.tuner.adaptive = false;
  plan.limit = 4 * plan.settings.storage_bytes + (64 << 20);
  return plan;
}

// One process's window, with its own cache or with its view of the common one.
struct Rank {
  Rank(uint32_t rank, const SharedCache::Plan& plan, std::byte* region) {
    nearcache::Options options;
    options.mode = nearcache::Mode::always;
    nearcache::CachingRules rules(options);
    rules.cache = plan.settings;
    // the index of a rank that shares only contains gets in flight
    if (region != nullptr) rules.cache.index_capacity = options.index;
    rules.skip_cheap = false;
    window = std::make_unique<CachedWindow>(nearcache::WindowShape{rank, 10, 1, 0}, rules, &budget,
                                            &acquires, CachedWindow::Data::moved);
    std::string wrong;
    if (region != nullptr)
      window->share(SharedCache::join(region, SharedCache::bytes_for(plan), &budget, &wrong));
    if (!wrong.empty() ||
        !window->make_cache(
            {rules.cache.index_capacity, region != nullptr ? 0 : plan.settings.storage_bytes}))
      std::fprintf(stderr, "bench_shared: no cache: %s\n", wrong.c_str()), _exit(1);
    window->epochs().lock_all(true);
  }

  RemoteGet get_of(uint64_t number, uint64_t bytes, void* origin) const {
    RemoteGet get{};
    get.key = {static_cast<int64_t>(number * bytes), far_target, 0};
    get.hash = nearcache::hash_key(get.key);
    get.bytes = bytes;
    get.from = get.key.displacement;
    get.to = get.from + static_cast<int64_t>(bytes);
    get.contiguous_target = true;
    get.origin = origin;
    get.elements = {&nearcache::byte_layout(), bytes};
    return get;
  }
  // Performs a get that misses, and its flush: everything but the network's part.
  void miss(uint64_t number, uint64_t bytes, void* origin) {
    const RemoteGet get = get_of(number, bytes, origin);
    const CachedWindow::Decision decision = window->look_up(get, false);
    if (decision.answer == CachedWindow::Answer::served) return;
    window->issued(get, decision);
    window->end_sync(window->begin_sync(Targets::one(far_target), false), true);
  }

  nearcache::MemoryBudget budget;
  nearcache::Acquires acquires;
  std::unique_ptr<CachedWindow> window;
};

double hits(Rank* rank, uint64_t bytes, uint64_t operations, uint64_t* state, std::byte* to) {
  uint64_t missed = 0;
  const double start = now_ns();
  for (uint64_t i = 0; i < operations; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const Key key{static_cast<int64_t>((*state >> 33) % entries * bytes), far_target, 0};
    missed += !rank->window->hit_shared(key, nearcache::hash_key(key), bytes, to);
  }
  const double ns = (now_ns() - start) / static_cast<double>(operations);
  // the directory of present entries may lose one in hundreds
  if (missed > operations / 50) std::fprintf(stderr, "bench_shared: too many misses\n"), _exit(1);
  return ns;
}

// Runs blocks in turn: the first process alone, the second alone, both in the common cache, and
// both apart, each in its own cache.
void measure_hits(Board* board, int me, Rank* rank, Rank* own, uint64_t bytes, int blocks) {
  constexpr int ways = 4;
  std::vector<std::byte> buffer(bytes);
  meet(board, most_places - 1, processes);  // nothing from before a rank joined is served to it
  for (uint64_t i = 0; i < entries; ++i) {
    if (me == 0) rank->miss(i, bytes, buffer.data());
    own->miss(i, bytes, buffer.data());
  }
  const uint64_t operations = std::max<uint64_t>(2000, 4000000 / (bytes + 64));
  uint64_t state = static_cast<uint64_t>(me) + 1;
  meet(board, 0, processes);
  hits(rank, bytes, operations, &state, buffer.data());
  hits(own, bytes, operations, &state, buffer.data());
  for (int block = 0; block < blocks; ++block) {
    for (int way = 0; way < ways; ++way) {
      const int place = 1 + block * ways + way;
      meet(board, place, processes);
      if (way < 2 && way != me) {
        // sleep until the other process is done: a spinning core would lower the other's clock rate
        while (board->arrived[place + 1].load() == 0) usleep(200);
        continue;
      }
      const double ns = hits(way == 3 ? own : rank, bytes, operations, &state, buffer.data());
      board->ns[me][block * 3 + std::max(0, way - 1)] = ns;
    }
  }
}

uint64_t kept(uint64_t bytes) { return std::max(kept_entries, least_storage / (bytes + 16)); }

void measure_misses(Board* board, int me, Rank* rank, uint64_t bytes, uint64_t count) {
  std::vector<std::byte> buffer(bytes);
  uint64_t next = static_cast<uint64_t>(me);
  // all different, in an order unrelated to that of memory
  constexpr uint64_t places = uint64_t{1} << 24, odd = 0x9e3779b97f4a7c15u;
  const auto some = [&](uint64_t misses) {
    for (; misses > 0; --misses, next += processes)
      rank->miss(next * odd % places, bytes, buffer.data());
  };
  some(2 * kept(bytes));  // afterwards all memory has been touched and the cache is full
  meet(board, 0, processes);
  const double start = now_ns();
  some(count);
  board->ns[me][0] = (now_ns() - start) / static_cast<double>(count);
}

// Calls `work(board, process, rank)` in two processes, which start with nothing but the region.
template <class Work>
void in_two(const SharedCache::Plan& plan, bool shared, Board* board, Work work) {
  const uint64_t bytes = SharedCache::bytes_for(plan);
  std::byte* region = shared ? map_shared<std::byte>(bytes) : nullptr;
  if (shared) SharedCache::make(region, plan);
  for (auto& each : board->arrived) each.store(0);
  pid_t children[processes];
  for (int me = 0; me < processes; ++me) {
    children[me] = fork();
    if (children[me] != 0) continue;
    Rank rank(static_cast<uint32_t>(me), plan, region);
    work(board, me, &rank);
    _exit(0);
  }
  int failed = 0, status = 0;
  for (const pid_t child : children) {
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  if (shared) munmap(region, bytes);
  if (failed != 0) std::exit(1);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  bench::Options options({bench::numbers("sizes", "8,64,512,4096", "Bytes of a get"),
                          bench::number("blocks", 200, "Blocks of hits"),
                          bench::number("misses", 100000, "Misses of a process"),
                          bench::number("repetitions", 7, "Times that misses are measured")});
  const bench::Options::Outcome outcome = options.parse(argc, argv);
  if (!outcome.go_on) return std::puts(outcome.said.c_str()), outcome.code;
  const int blocks = static_cast<int>(std::clamp<int64_t>(options.number("blocks"), 1, 1000));
  const auto misses = static_cast<uint64_t>(options.number("misses"));
  auto* board = map_shared<Board>(sizeof(Board));
  std::string text;
  for (const int64_t size : options.numbers("sizes")) {
    const auto bytes = static_cast<uint64_t>(size);
    const SharedCache::Plan plan = plan_for(4 * entries * (bytes + 16), 4 * entries);
    in_two(plan, true, board, [&](Board* on, int me, Rank* rank) {
      auto* region = map_shared<std::byte>(SharedCache::bytes_for(plan));
      SharedCache::make(region, plan);
      Rank own(static_cast<uint32_t>(me), plan, region);
      measure_hits(on, me, rank, &own, bytes, blocks);
    });
    std::vector<double> alone, together, apart;
    for (int block = 0; block < blocks; ++block) {
      for (const auto& ns : board->ns) {
        alone.push_back(ns[block * 3]);
        together.push_back(ns[block * 3 + 1]);
        apart.push_back(ns[block * 3 + 2]);
      }
    }
    std::vector<double> own, common;
    for (int64_t i = 0; i < options.number("repetitions"); ++i) {
      for (const bool shared : {false, true}) {
        const uint64_t count = std::min<uint64_t>(misses, (64 << 20) / bytes);
        in_two(plan_for(kept(bytes) * (bytes + 16), 2 * kept(bytes)), shared, board,
               [&](Board* on, int me, Rank* rank) { measure_misses(on, me, rank, bytes, count); });
        for (const auto& ns : board->ns) (shared ? common : own).push_back(ns[0]);
      }
    }
    char row[400];
    std::snprintf(row, sizeof row,
                  "%s{\"size\": %lld, \"hit_alone_ns\": %.3f, \"hit_together_ns\": %.3f, "
                  "\"hit_apart_ns\": %.3f, "
                  "\"miss_private_ns\": %.2f, \"miss_shared_ns\": %.2f}",
                  text.empty() ? "" : ", ", static_cast<long long>(size), median(alone),
                  median(together), median(apart), median(own), median(common));
    text += row;
  }
  std::FILE* file = std::fopen(options.text("out").c_str(), "w");
  if (file == nullptr) return std::perror("bench_shared: --out"), 1;
  std::fprintf(file, "[%s]\n", text.c_str());
  return std::fclose(file) == 0 ? 0 : 1;
}
