// SPDX-License-Identifier: BSD-3-Clause

// The benefit of each heuristic of the page cache: replays access patterns through the library's
// own engine in virtual time, over a network that only models costs, with all heuristics on and
// with each of them off in turn. Also measures the engine's own processor time.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "cache/page/page_cache.h"
#include "page_network.h"
#include "page_patterns.h"

namespace {

using bench::Access;
using bench::Link;
using bench::PageNetwork;
using bench::Pattern;
using nearcache::PageCache;
using nearcache::PageCacheCounters;
using nearcache::PageCacheOptions;
using nearcache::PageHeuristics;

// Latency of 8 bytes and time per byte: as measured between two processes over TCP, and as
// bench/run shmem models Aries.
constexpr Link links[] = {{"tcp", 14000, 0.8, 1500, 64, true},
                          {"Aries", 1700, 0.75, 200, 64, false}};

// Processor time of an access that hits, spent in virtual time because transfers proceed meanwhile.
// It is subtracted from the result; the driver adds the engine's measured time instead.
constexpr double hit_ns = 15;

struct Variant {
  const char* off;
  bool PageHeuristics::*heuristic;
};
constexpr Variant variants[] = {
    {"none", nullptr},
    {"streams", &PageHeuristics::streams},
    {"early", &PageHeuristics::early},
    {"strides", &PageHeuristics::strides},
    {"doubt", &PageHeuristics::doubt},
    {"near", &PageHeuristics::near},
    {"grow", &PageHeuristics::grow},
    {"limit", &PageHeuristics::limit},
    {"scattered_reads", &PageHeuristics::scattered_reads},
    {"scattered_puts", &PageHeuristics::scattered_puts},
};

struct Result {
  // time of the network and of the program's own computation; processor time of the engine
  double virtual_ns = 0, processor_ns = 0;
  PageCacheCounters counters;
};

double processor_now_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

void perform(const Pattern& pattern, PageCache& cache, PageNetwork& network) {
  static std::array<char, 4096> buffer;
  const std::vector<Access>& accesses = pattern.accesses;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    network.compute(pattern.think_ns + hit_ns);
    if (pattern.prefetched) {
      const std::size_t ahead = i + cache.prefetch_distance();
      if (ahead < accesses.size())
        cache.prefetch(accesses[ahead].pe, accesses[ahead].address, accesses[ahead].bytes);
    }
    switch (access.kind) {
      case Access::get:
        cache.get(access.pe, access.address, buffer.data(), access.bytes);
        break;
      case Access::put:
        cache.put(access.pe, access.address, buffer.data(), access.bytes);
        break;
      case Access::atomic:
        cache.before_direct_fetch(access.pe, access.address, access.bytes);
        network.atomic();
        break;
      case Access::quiet:
        cache.release();
        break;
      case Access::barrier:
        cache.release();
        cache.acquire();
        break;
    }
  }
}

Result replay(const Pattern& pattern, const Link& link, const Variant& variant) {
  PageCacheOptions options;
  if (variant.heuristic != nullptr) options.heuristics.*variant.heuristic = false;
  PageNetwork network(link, bench::page_pattern_bytes);
  PageCache cache;
  if (!cache.create(options, &network)) {
    std::fprintf(stderr, "bench_pages: no memory for a cache\n");
    std::exit(1);
  }
  const double before = network.now_ns(), began = processor_now_ns();
  perform(pattern, cache, network);
  const double took = processor_now_ns() - began,
               hits = hit_ns * static_cast<double>(pattern.accesses.size());
  return {network.now_ns() - before - hits, took, cache.counters()};
}

void print(const Pattern& pattern, const Link& link, const Variant& variant, const Result& result,
           bool first) {
  const PageCacheCounters& c = result.counters;
  const auto count = static_cast<unsigned long long>(pattern.accesses.size());
  std::printf(
      "%s{\"network\": \"%s\", \"pattern\": \"%s\", \"off\": \"%s\", \"accesses\": %llu, "
      "\"virtual_ns\": %.0f, \"engine_ns\": %.0f, "
      "\"gets\": %llu, \"get_bytes\": %llu, \"puts\": %llu, \"quiets\": %llu, \"ahead_lines\": "
      "%llu, \"ahead_lines_used\": %llu}",
      first ? "" : ",\n", link.name, pattern.name.c_str(), variant.off, count, result.virtual_ns,
      result.processor_ns, static_cast<unsigned long long>(c.network_gets),
      static_cast<unsigned long long>(c.network_get_bytes),
      static_cast<unsigned long long>(c.network_puts), static_cast<unsigned long long>(c.quiets),
      static_cast<unsigned long long>(c.ahead_lines),
      static_cast<unsigned long long>(c.ahead_lines_used));
}

}  // namespace

// bench_pages [ROUNDS [PATTERN]]: prints JSON to standard output. The processor time is the minimum
// over the rounds, in which the variants take turns.
int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  bool first = true;
  std::printf("[");
  for (const Pattern& pattern : bench::page_patterns()) {
    if (argc > 2 && pattern.name != argv[2]) continue;
    for (const Link& link : links) {
      std::array<Result, std::size(variants)> results;
      for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < results.size(); ++i) {
          const Result result = replay(pattern, link, variants[i]);
          const double least = round == 0 ? result.processor_ns
                                          : std::min(result.processor_ns, results[i].processor_ns);
          results[i] = result;
          results[i].processor_ns = least;
        }
      }
      for (std::size_t i = 0; i < results.size(); ++i) {
        print(pattern, link, variants[i], results[i], first);
        first = false;
      }
    }
  }
  std::printf("]\n");
}
