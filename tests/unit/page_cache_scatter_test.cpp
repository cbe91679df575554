// Scattered reads without reuse bypass the cache, and only they do.
#include <random>

#include "pages.h"

namespace nearcache::test {
namespace TEST_FILE {

constexpr size_t memory = 1 << 20;

struct Scattered : Pages {
  explicit Scattered(PageCacheOptions options, size_t bytes = memory)
      : Pages(options, Laziness::late, bytes) {}

  size_t anywhere() { return random() % (size / 8) * 8; }
  void read_here_and_there(int reads) {
    for (int i = 0; i < reads; ++i) get(anywhere(), 8);
  }
  // Returns the bytes fetched from the network per read.
  template <class Action>
  double bytes_a_read(int reads, Action action) {
    const uint64_t before = cache.counters().network_get_bytes;
    for (int i = 0; i < reads; ++i) action(i);
    return static_cast<double>(cache.counters().network_get_bytes - before) / reads;
  }

  std::mt19937_64 random{11};
};

PageCacheOptions options(size_t bytes, size_t readahead = 0) {
  PageCacheOptions options = small_cache();
  options.size = bytes;
  options.readahead = readahead;
  return options;
}

TEST(PageCacheScatter, ReadsThatNeverComeBackGoPastTheCache) {
  Scattered pages(options(16 << 10));
  pages.read_here_and_there(2500);
  // If all were cached: 64 bytes per read; if none: 8.
  EXPECT_LT(pages.bytes_a_read(2048, [&](int) { pages.get(pages.anywhere(), 8); }), 24);
}

TEST(PageCacheScatter, ACacheThatIsNotFullTakesThemAll) {
  Scattered pages(options(2 << 20));
  EXPECT_GT(pages.bytes_a_read(1200, [&](int) { pages.get(pages.anywhere(), 8); }), 56);
}

TEST(PageCacheScatter, ReadsSeeOwnWritesUnderWay) {
  Scattered pages(options(16 << 10));
  for (int i = 0; i < 4000; ++i) {
    const size_t at = pages.anywhere();
    pages.get(at, 8);
    pages.put(at, 8);
    if (i % 3 == 0) pages.get(at, 8);
    if (i % 7 == 0) pages.get(at & ~size_t{63}, 64);
  }
  pages.release();
}

TEST(PageCacheScatter, ReadsSeeOthersWritesAfterAnAcquire) {
  Scattered pages(options(16 << 10));
  pages.read_here_and_there(1000);
  for (int i = 0; i < 1000; ++i) {
    const size_t at = pages.anywhere();
    pages.get(at, 8);
    pages.other_writes(at, 8);
    pages.acquire();
    pages.get(at, 8);
  }
}

TEST(PageCacheScatter, AStreamIsFetchedAheadAgain) {
  for (const size_t stride : {8, 200, 2500}) {
    const size_t reads = stride == 8 ? 8192 : 1000;
    Scattered pages(options(64 << 10, 8 << 10), std::max(memory, reads * stride));
    pages.read_here_and_there(1500);
    EXPECT_LE(pages.waits([&] {
      for (size_t i = 0; i < reads; ++i) pages.get(i * stride, 8);
    }),
              stride == 8 ? reads / 32 : 256 + reads / 3)
        << "stride " << stride;
  }
}

TEST(PageCacheScatter, WhatComesBackIsCachedAgain) {
  for (const size_t working_pages : {8, 200}) {
    Scattered pages(options(256 << 10));
    pages.read_here_and_there(3000);
    const auto read = [&](int) {
      pages.get((pages.random() % working_pages * 3 << 10) + pages.random() % 128 * 8, 8);
    };
    for (int i = 0; i < 12000; ++i) read(i);
    EXPECT_LT(pages.bytes_a_read(4000, read), 4) << working_pages << " pages";
  }
}

TEST(PageCacheScatter, LongerReadsGoPastTheCacheAsTheyAre) {
  Scattered pages(options(16 << 10));
  const auto read = [&](int) { pages.get(pages.random() % (memory / 1024) * 1024 + 100, 650); };
  for (int i = 0; i < 2500; ++i) read(i);
  EXPECT_LT(pages.bytes_a_read(1024, read), 740);
  // Reads across a page's end are fetched at once.
  EXPECT_LE(pages.waits([&] {
    for (int i = 0; i < 100; ++i) pages.get(pages.random() % (memory / 1024 - 2) * 1024 + 900, 700);
  }),
            100u);
}

// In a program with scattered reads, a page that was just bypassed, and those beside it, are cached
// when they are read next.
TEST(PageCacheScatter, APageReadAgainOrBesideOneIsCached) {
  ScatteredReads reads;
  const ScatteredReads::Seen seen{true, 0, 1000, 1000};
  uint64_t number = 0;
  const auto passes = [&] { return reads.passes(1, number += 1000, seen); };
  for (int i = 0; i < 2 * 256 + 8; ++i) passes();
  int passed = 0;
  for (int i = 0; i < 60; ++i) {
    if (!passes()) continue;
    ++passed;
    EXPECT_FALSE(reads.passes(1,
                              i % 3 == 0   ? number
                              : i % 3 == 1 ? number + 1
                                           : number - 1,
                              seen))
        << i;
  }
  EXPECT_GT(passed, 40);
}

TEST(ScatteredPuts, PagesInARowThatHeldLittleShowIt) {
  ScatteredPuts puts;
  for (int i = 0; i < 63; ++i) puts.gave_up(true);
  EXPECT_FALSE(puts.likely());
  puts.gave_up(true);
  EXPECT_TRUE(puts.likely());
  puts.gave_up(false);
  EXPECT_FALSE(puts.likely());
}

TEST(ScatteredPuts, MostGoAroundButForATrialNowAndThen) {
  ScatteredPuts puts;
  int passed = 0;
  for (uint64_t i = 0; i < 640; ++i) passed += puts.passes(1, 1000 * i);
  EXPECT_EQ(passed, 630);
}

TEST(ScatteredPuts, APageThatIsPutToAgainOrTheOneBehindItTakesThePut) {
  ScatteredPuts puts;
  EXPECT_TRUE(puts.passes(1, 7));
  EXPECT_FALSE(puts.passes(1, 7));
  EXPECT_FALSE(puts.passes(1, 8));
  EXPECT_TRUE(puts.passes(2, 8)) << "of another PE";
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
