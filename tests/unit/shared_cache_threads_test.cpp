// Readers without a lock, beside writers that reuse storage all the time: for the thread sanitizer,
// which cannot see into other processes. Each thread is a rank.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/shared/shared_cache.h"

namespace nearcache {
namespace TEST_FILE {

constexpr int keys = 200;

Key key_of(int number) { return {int64_t{number} * 4096, 3, 0}; }
uint64_t bytes_of(int number) { return 40 + 8 * static_cast<uint64_t>(number % 50); }

TEST(SharedCacheThreads, ReadersWithoutALockGetWholeEntriesOrNothing) {
  SharedCache::Plan plan;
  plan.ranks = 4;
  plan.limit = 4 << 20;
  plan.settings.storage_bytes = 24 << 10;  // a third of what is requested
  plan.settings.index_capacity = 128;
  plan.settings.tuner.adaptive = false;
  const uint64_t bytes = SharedCache::bytes_for(plan);
  void* const region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(region, MAP_FAILED);
  auto* const base = static_cast<std::byte*>(region);
  SharedCache::make(base, plan);
  MemoryBudget budget;
  std::atomic<uint64_t> hits{0}, wrong{0};
  const auto rank = [&](uint32_t seed) {
    std::string why;
    const auto cache = SharedCache::join(base, bytes, &budget, &why);
    std::mt19937 random(seed);
    std::vector<uint64_t> words(64);
    for (int step = 0; step < 20000; ++step) {
      const int number = static_cast<int>(random() % keys * (random() % keys) / keys);
      const Key key = key_of(number);
      const uint64_t size = bytes_of(number);
      SharedCache::Found found;
      if (cache->find(hash_key(key), key, size, &found) && cache->copy(found, size, words.data())) {
        cache->count_hit(found);
        ++hits;
        for (uint64_t at = 0; at < size / 8; ++at) {
          if (words[at] >> 8 != (static_cast<uint64_t>(number) << 8 | at) ||
              (words[at] & 0xff) != (words[0] & 0xff))
            ++wrong;
        }
        continue;
      }
      // in a different order by each thread
      for (uint64_t at = 0; at < size / 8; ++at)
        words[at] = (static_cast<uint64_t>(number) << 16) | at << 8 | seed;
      cache->publish(key, hash_key(key), reinterpret_cast<const std::byte*>(words.data()), size,
                     cache->clock(), {});
      if (step % 64 == 0) cache->advance_floor();
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t seed = 1; seed <= 4; ++seed) threads.emplace_back(rank, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_GT(hits.load(), 1000u);
  std::string why;
  EXPECT_EQ(SharedCache::join(base, bytes, &budget, &why)->check(), nullptr);
  munmap(region, bytes);
}

}  // namespace TEST_FILE
}  // namespace nearcache
