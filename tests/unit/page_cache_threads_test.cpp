// Hits without the lock: threads read the page cache while others change it with the lock held.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "pages.h"

namespace nearcache::test {
namespace TEST_FILE {

constexpr uint64_t base = 1 << 20;
constexpr int pe = 1;

// The memory of one PE, in words. Transfers are complete when they return.
class WordNetwork final : public PageTransport {
 public:
  explicit WordNetwork(size_t words) : words_(words) {}
  void get(void* to, uint64_t address, size_t bytes, int) override {
    std::memcpy(to, at(address), bytes);
  }
  void get_nbi(void* to, uint64_t address, size_t bytes, int) override {
    std::memcpy(to, at(address), bytes);
  }
  void put(uint64_t address, const void* from, size_t bytes, int) override {
    std::memcpy(at(address), from, bytes);
  }
  void fence() override {}
  void quiet() override {}
  Extent extent(uint64_t, size_t, int) override { return {base, base + words_.size() * 8}; }

  uint64_t& word(size_t i) { return words_[i]; }

 private:
  char* at(uint64_t address) { return reinterpret_cast<char*>(words_.data()) + (address - base); }
  std::vector<uint64_t> words_;
};

PageCacheOptions unlocked_cache(size_t page = 1024, size_t pages = 16) {
  PageCacheOptions options = small_cache();
  options.page = page;
  options.size = page * pages;
  options.line = page / 16;
  options.unlocked_hits = true;
  return options;
}

// The cache as threads use it: reads try without the lock first.
struct Shared {
  Shared(const PageCacheOptions& options, size_t words) : net(words) {
    EXPECT_TRUE(cache.create(options, &net));
  }

  bool hit(PageReader& reader, size_t word, uint64_t* to, size_t count) {
    const auto once = [&] {
      return cache.hit_unlocked(reader, pe, base + word * 8, to, count * 8);
    };
    return once() || (cache.looked(reader) && once());
  }
  void get(PageReader& reader, size_t word, uint64_t* to, size_t count = 1) {
    if (hit(reader, word, to, count)) return;
    const std::lock_guard lock(mutex);
    cache.get(reader, pe, base + word * 8, to, count * 8);
  }
  void put(size_t word, uint64_t value) {
    const std::lock_guard lock(mutex);
    cache.put(pe, base + word * 8, &value, sizeof value);
  }
  void sound() {
    const std::lock_guard lock(mutex);
    const char* broken = cache.broken();
    EXPECT_EQ(broken, nullptr) << broken;
  }

  WordNetwork net;
  PageCache cache;
  std::mutex mutex;
};

void in_threads(const std::vector<std::function<void()>>& work) {
  std::vector<std::thread> threads;
  for (const auto& each : work) threads.emplace_back(each);
  for (std::thread& thread : threads) thread.join();
}

// Long reads of more pages than there are frames, so that a page may be evicted while it is copied;
// a word identifies each page.
TEST(PageCacheThreads, WhatIsReadIsOfThePageThatWasAskedFor) {
  constexpr size_t page_words = 65536 / 8, pages = 6;
  Shared shared(unlocked_cache(65536, 4), pages * page_words);
  for (size_t i = 0; i < pages * page_words; ++i) shared.net.word(i) = i;
  std::atomic<uint64_t> wrong = 0, hits = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  const auto reads = [&](uint32_t seed) {
    PageReader reader;
    std::mt19937 random(seed);
    std::vector<uint64_t> to(page_words);
    while (std::chrono::steady_clock::now() < end) {
      const size_t first = random() % pages * page_words;
      if (shared.hit(reader, first, to.data(), page_words)) {
        ++hits;
      } else {
        shared.get(reader, first, to.data(), page_words);
      }
      for (size_t i = 0; i < page_words; i += 100) wrong += to[i] != first + i;
    }
  };
  in_threads({[&] { reads(1); }, [&] { reads(2); }, [&] { reads(3); }});
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(hits, 0u);
  shared.sound();
}

// A flag in memory tells that a word has changed; `change` makes the change visible.
void told(size_t pages, const std::function<void(Shared&, size_t, uint64_t)>& change) {
  constexpr size_t page_words = 128, hot = 40;
  Shared shared(unlocked_cache(), pages * page_words);
  std::array<std::atomic<uint64_t>, hot> newest{};
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> old = 0, reads = 0;
  const auto word_of = [&](size_t i) { return i * (pages * page_words / hot); };
  const auto read = [&](uint32_t seed) {
    PageReader reader;
    std::mt19937 random(seed);
    for (; !stop; ++reads) {
      const size_t i = random() % hot;
      const uint64_t known = newest[i].load(std::memory_order_acquire);
      uint64_t to = 0;
      shared.get(reader, word_of(i), &to);
      old += to < known;
    }
  };
  std::thread first([&] { read(1); }), second([&] { read(2); });
  std::mt19937 random(3);
  for (uint64_t version = 1; version <= 4000; ++version) {
    const size_t i = random() % hot;
    change(shared, word_of(i), version);
    newest[i].store(version, std::memory_order_release);
    // the readers get their turn
    for (const uint64_t before = reads; version % 40 == 0 && reads < before + hot;)
      std::this_thread::yield();
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(old, 0u);
  shared.sound();
}

TEST(PageCacheThreads, AThreadThatIsToldOfAPutReadsIt) {
  told(12, [](Shared& shared, size_t word, uint64_t version) { shared.put(word, version); });
}

TEST(PageCacheThreads, AThreadThatIsToldOfAnAcquireReadsNothingOlder) {
  told(12, [](Shared& shared, size_t word, uint64_t version) {
    const std::lock_guard lock(shared.mutex);
    shared.net.word(word) = version;
    shared.cache.acquire();
  });
}

TEST(PageCacheThreads, AThreadThatIsToldOfADirectPutReadsIt) {
  told(30, [](Shared& shared, size_t word, uint64_t version) {
    const std::lock_guard lock(shared.mutex);
    shared.cache.before_direct_put(pe, base + word * 8, 8);
    shared.net.word(word) = version;
  });
}

// Each thread has words of its own among those of others, in a cache that always evicts.
TEST(PageCacheThreads, EachThreadReadsItsOwnPuts) {
  constexpr size_t threads = 3, words = 40 * 128;
  Shared shared(unlocked_cache(), words);
  std::atomic<uint64_t> wrong = 0;
  std::array<std::vector<uint64_t>, threads> known;
  known.fill(std::vector<uint64_t>(words));
  const auto work = [&](size_t thread) {
    PageReader reader;
    std::mt19937 random(static_cast<uint32_t>(thread));
    std::array<uint64_t, 128> to{};
    for (uint64_t n = 1; n <= 20000; ++n) {
      const size_t word = random() % (random() % 4 == 0 ? words : 4 * 128);
      const auto count = std::min<size_t>(1 + random() % 40, words - word);
      switch (random() % 8) {
        case 0:
        case 1:
          if (word % threads != thread) break;
          known[thread][word] = n;
          shared.put(word, n);
          break;
        case 2: {
          if (random() % 20 != 0) break;
          const std::lock_guard lock(shared.mutex);
          random() % 2 == 0 ? shared.cache.acquire() : shared.cache.release();
          break;
        }
        default:
          shared.get(reader, word, to.data(), count);
          for (size_t i = 0; i < count; ++i)
            wrong += (word + i) % threads == thread && to[i] != known[thread][word + i];
      }
    }
  };
  in_threads({[&] { work(0); }, [&] { work(1); }, [&] { work(2); }});
  EXPECT_EQ(wrong, 0u);
  shared.sound();
  shared.cache.release();
  for (size_t i = 0; i < words; ++i) ASSERT_EQ(shared.net.word(i), known[i % threads][i]) << i;
}

TEST(PageCacheThreads, HitsWithoutTheLockAreCountedOnce) {
  constexpr size_t words = 8 * 128, rounds = 3;
  Shared shared(unlocked_cache(), words);
  PageReader reader;
  uint64_t to = 0;
  for (size_t n = 0; n < rounds * words; ++n) shared.get(reader, n % words, &to);
  shared.cache.count(reader);
  shared.cache.count(reader);
  const PageCacheCounters& counters = shared.cache.counters();
  EXPECT_EQ(counters.gets, rounds * words);
  EXPECT_EQ(counters.get_bytes, rounds * words * 8);
  EXPECT_EQ(counters.hits, rounds * words - counters.timed_gets);
  EXPECT_EQ(counters.hit_bytes, counters.hits * 8);
}

// Polling is detected for each thread separately: reads of others in between must not hide it.
TEST(PageCacheThreads, AWordThatAThreadPollsIsReadAnew) {
  Shared shared(unlocked_cache(), 8 * 128);
  PageReader polls, others;
  uint64_t to = 0;
  shared.get(polls, 5, &to);
  shared.net.word(5) = 1;
  for (size_t n = 0; n < 100 && to == 0; ++n) {
    for (size_t i = 0; i < 200; ++i) shared.get(others, 128 + i * 3, &to);
    shared.get(polls, 5, &to);
  }
  EXPECT_EQ(to, 1u);
  EXPECT_GT(shared.cache.counters().polls, 0u);
}

TEST(PageCacheThreads, WhatIsOldIsReadAnewByAThreadThatReadsElsewhere) {
  PageCacheOptions options = unlocked_cache();
  options.longest_age_ns = 1;
  Shared shared(options, 8 * 128);
  PageReader reader;
  uint64_t to = 0;
  shared.get(reader, 5, &to);
  shared.net.word(5) = 1;
  for (size_t i = 0; i < 1000; ++i) shared.get(reader, i % 512 == 5 ? 6 : i % 512, &to);
  shared.get(reader, 5, &to);
  EXPECT_EQ(to, 1u);
}

TEST(PageCacheThreads, NothingIsServedWithoutTheLockThatIsNotServedWithIt) {
  Shared shared(unlocked_cache(), 8 * 128);
  PageReader reader;
  uint64_t to = 0;
  EXPECT_FALSE(shared.hit(reader, 0, &to, 1)) << "never fetched";
  shared.get(reader, 0, &to);
  EXPECT_TRUE(shared.hit(reader, 0, &to, 1));
  EXPECT_FALSE(shared.hit(reader, 8, &to, 1)) << "the next line";
  EXPECT_FALSE(shared.cache.hit_unlocked(reader, pe + 1, base, &to, 8)) << "another PE";
  EXPECT_FALSE(shared.cache.hit_unlocked(reader, pe, base + 1020, &to, 8)) << "over the page's end";
  std::vector<uint64_t> pages(300);
  shared.get(reader, 100, pages.data(), 250);
  EXPECT_TRUE(shared.hit(reader, 100, pages.data(), 250)) << "three pages";
  EXPECT_FALSE(shared.hit(reader, 100, pages.data(), 300)) << "more than that";
  shared.cache.acquire();
  EXPECT_FALSE(shared.hit(reader, 0, &to, 1)) << "acquired";
  EXPECT_FALSE(shared.hit(reader, 100, pages.data(), 250)) << "acquired";
  shared.get(reader, 0, &to);
  shared.cache.overtaken(pe, base, 8);
  EXPECT_FALSE(shared.hit(reader, 0, &to, 1)) << "overtaken";
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
