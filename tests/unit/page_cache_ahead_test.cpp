// Reading ahead, prefetches, and polls.
#include "cache/page/page_cache.h"

#include <random>

#include "pages.h"

namespace nearcache::test {
namespace TEST_FILE {

constexpr size_t mebibyte = 1 << 20;

PageCacheOptions reading_ahead(size_t bytes = 32 << 10) {
  PageCacheOptions options;
  options.readahead = bytes;
  options.longest_age_ns = 1e18;  // tests under a sanitizer may take longer
  return options;
}

TEST(PageCacheAhead, CopyingTenThousandIntegersTakesFewTransfers) {
  Pages pages(reading_ahead(), Laziness::late, mebibyte);
  for (size_t i = 0; i < 10000; ++i) pages.read(8 * i, 8);
  EXPECT_LE(pages.net.counts().gets + pages.net.counts().nbi_gets, 100u);
  for (size_t i = 0; i < 10000; ++i) pages.put(8 * i, 8, 2);
  pages.release();
  EXPECT_LE(pages.net.counts().puts, 100u);
}

TEST(PageCacheAhead, ReadingForwardWaitsSeldom) {
  Pages pages(reading_ahead(), Laziness::late, mebibyte);
  EXPECT_LE(pages.waits([&] {
    for (size_t at = 0; at < mebibyte / 4; at += 8) pages.get(at, 8);
  }),
            mebibyte / 4 / 4096);
  EXPECT_GT(pages.cache.counters().readaheads, 0u);
}

TEST(PageCacheAhead, ReadingBackwardWaitsSeldom) {
  Pages pages(reading_ahead(), Laziness::late, mebibyte);
  EXPECT_LE(pages.waits([&] {
    for (size_t at = mebibyte / 4; at > 0; at -= 8) pages.get(at - 8, 8);
  }),
            mebibyte / 4 / 4096);
}

TEST(PageCacheAhead, ReadingWithAStrideWaitsSeldom) {
  for (const size_t stride : {200, 1500, 5000}) {
    Pages pages(reading_ahead(), Laziness::late, mebibyte);
    const size_t reads = mebibyte / stride;
    EXPECT_LE(pages.waits([&] {
      for (size_t i = 0; i < reads; ++i) pages.get(i * stride, 8);
    }),
              reads / 3)
        << "stride " << stride;
  }
}

TEST(PageCacheAhead, ReadaheadGrowsWhileItIsUsed) {
  Pages pages(reading_ahead(), Laziness::late, mebibyte);
  const auto read = [&](size_t from) {
    return pages.waits([&] {
      for (size_t i = 0; i < 65536; i += 8) pages.get(from + i, 8);
    });
  };
  const uint64_t first = read(0), second = read(65536), third = read(131072);
  EXPECT_LE(second, first);
  EXPECT_LE(third, 65536u / 8192) << "at its limit";
}

TEST(PageCacheAhead, RandomReadsFetchTheirLinesOnly) {
  PageCacheOptions options = reading_ahead();
  options.size = mebibyte / 16;
  Pages pages(options, Laziness::late, 4 * mebibyte);
  std::mt19937 random(1);
  const auto read = [&](int count) {
    for (int i = 0; i < count; ++i) pages.read(random() % (4 * mebibyte / 8) * 8, 8);
  };
  read(3000);  // learns from unused data
  pages.net.reset_counts();
  read(2000);
  EXPECT_LE(pages.net.counts().get_bytes, 2000u * 64 * 11 / 10);
}

TEST(PageCacheAhead, ReadaheadShrinksWhenItIsNotUsed) {
  Pages pages(reading_ahead(), Laziness::late, 4 * mebibyte);
  for (size_t at = 0; at < 128 << 10; at += 8) pages.get(at, 8);
  // Short runs of lines at random places look like the beginnings of scans.
  std::mt19937 random(1);
  const auto runs = [&](int count) {
    pages.net.reset_counts();
    for (int i = 0; i < count; ++i) {
      const size_t from = random() % (4 * mebibyte - 1024);
      for (size_t at = 0; at < 256; at += 8) pages.get(from + at, 8);
    }
    return pages.net.counts().get_bytes / static_cast<uint64_t>(count);
  };
  const uint64_t first = runs(20);
  runs(200);
  const uint64_t last = runs(100);
  EXPECT_LE(last, 2 * first);
  EXPECT_LE(last, 2048u);
}

TEST(PageCacheAhead, WhatIsFetchedInVainHalvesTheReadahead) {
  Readahead readahead;
  readahead.create(32 << 10, 64, 1024);
  const size_t limit = readahead.limit(), near_bytes = readahead.near_bytes();
  readahead.count(128, 896);
  EXPECT_EQ(readahead.limit(), limit) << "one of eight saved a get";
  readahead.count(100, 924);
  EXPECT_EQ(readahead.limit(), limit / 2);
  EXPECT_EQ(readahead.near_bytes(), near_bytes / 2);
  for (int i = 0; i < 20; ++i) readahead.count(0, 1024);
  EXPECT_EQ(readahead.limit(), 64u);
  EXPECT_EQ(readahead.near_bytes(), 64u);
  for (int i = 0; i < 20; ++i) readahead.count(1024, 0);
  EXPECT_EQ(readahead.limit(), limit);
}

TEST(PageCacheAhead, ReadaheadOfNothingIsNone) {
  Pages pages(reading_ahead(0), Laziness::late, mebibyte);
  for (size_t at = 0; at < 64 << 10; at += 8) pages.get(at, 8);
  EXPECT_EQ(pages.net.counts().nbi_gets, 0u);
  EXPECT_EQ(pages.net.counts().get_bytes, 64u << 10);
  EXPECT_EQ(pages.cache.counters().readaheads, 0u);
}

TEST(PageCacheAhead, ReadaheadEndsWithTheSegment) {
  const uint64_t base = Pages::base;
  Pages pages(reading_ahead(), Laziness::late, mebibyte,
              {{base + 1000, base + 40001}, {base + 50000, base + 90000}});
  for (size_t at = 1000; at < 40001; at += 3) pages.get(at, 1);
  for (size_t at = 89999; at >= 50000; at -= 3) pages.get(at, 1);
  for (size_t at = 40000; at >= 1000; at -= 3) pages.get(at, 1);
}

TEST(PageCacheAhead, ReadaheadMeetsOwnWrites) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    Pages pages(reading_ahead(), laziness, mebibyte / 4);
    for (size_t at = 0; at < 100000; at += 8) {
      pages.get(at, 8);
      pages.put(at + 4096, 4);
      if (at % 1000 == 0) pages.put(at + 16384, 300);
      if (at % 5000 == 0) pages.quiet();
    }
    pages.release();
  }
}

TEST(PageCacheAhead, APrefetchIsWaitedForOnlyWhenItIsUsed) {
  Pages pages;
  pages.prefetch(0, 512);
  pages.get(8192, 8);
  EXPECT_EQ(pages.net.counts().quiets, 0u);
  const uint64_t gets = pages.net.counts().gets;
  for (size_t at = 0; at < 512; at += 8) pages.get(at, 8);
  EXPECT_EQ(pages.net.counts().gets, gets);
  EXPECT_LE(pages.net.counts().quiets, 1u);
}

TEST(PageCacheAhead, OneWaitBringsAllPrefetches) {
  PageCacheOptions options = small_cache();
  options.size = 1 << 20;
  Pages pages(options, Laziness::late, mebibyte);
  for (size_t i = 0; i < 16; ++i) pages.prefetch(i * 5000, 8);
  EXPECT_LE(pages.waits([&] {
    for (size_t i = 0; i < 16; ++i) pages.get(i * 5000, 8);
  }),
            1u);
}

TEST(PageCacheAhead, APrefetchOfWhatIsHereFetchesNothing) {
  Pages pages;
  pages.get(0, 64);
  pages.put(128, 64);
  const uint64_t calls = pages.net.counts().calls();
  pages.prefetch(0, 64);
  pages.prefetch(128, 64);
  EXPECT_EQ(pages.net.counts().calls(), calls);
  pages.prefetch(512, 64);
  pages.prefetch(512, 64);
  EXPECT_LE(pages.net.counts().nbi_gets, 1u) << "it is under way already";
}

TEST(PageCacheAhead, PrefetchesAreClippedAndNeverFault) {
  const uint64_t base = Pages::base;
  Pages pages(small_cache(), Laziness::late, 64 << 10,
              {{base + 100, base + 5000}, {base + 9000, base + 9001}});
  pages.prefetch(4990, 100);
  pages.prefetch(4999, 1 << 30);
  pages.prefetch(100, 1);
  pages.prefetch(9000, 1);
  pages.prefetch(5000, 8);
  pages.prefetch(50, 8);
  pages.prefetch(20000, 8);
  pages.prefetch(0, SIZE_MAX - base);
  pages.quiet();
  pages.get(4990, 10);
  pages.get(100, 1);
  pages.get(9000, 1);
}

TEST(PageCacheAhead, PrefetchesAreDroppedWhenThereIsNoRoom) {
  Pages pages;
  for (size_t at = 0; at < 4096; at += 1024) pages.put(at, 8);
  for (size_t at = 8192; at < 200000; at += 64) pages.prefetch(at, 64);
  EXPECT_GT(pages.cache.counters().prefetches_dropped, 0u);
  for (size_t at = 8192; at < 200000; at += 1024) pages.get(at, 8);
  pages.release();
  pages.prefetch(0, 8);
  pages.get(0, 8);
}

TEST(PageCacheAhead, PrefetchesOfManyPlacesKeepWorking) {
  PageCacheOptions options = small_cache();
  options.size = 64 << 10;
  Pages pages(options, Laziness::random);
  std::mt19937 random(3);
  std::vector<size_t> places(2000);
  for (size_t& place : places) place = random() % (pages.size / 8 - 1) * 8;
  constexpr size_t ahead = 4;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i + ahead < places.size()) pages.prefetch(places[i + ahead], 8);
    pages.get(places[i], 8);
  }
  EXPECT_LE(pages.net.counts().gets, places.size() / 4);
}

// A loop of gets must see a change at the target, however often the address was read before.
uint64_t polls_until_seen(Pages& pages, std::vector<size_t> places) {
  for (int i = 0; i < 10; ++i) {
    for (const size_t place : places) pages.read(place, 8);
  }
  const Bytes before = pages.read(places.back(), 8);
  pages.other_writes(places.back(), 8);
  for (uint64_t polls = 1; polls <= 1000; ++polls) {
    for (const size_t place : places) {
      if (pages.read(place, 8) != before && place == places.back()) return polls;
    }
  }
  return 1000;
}

TEST(PageCachePolls, AChangeIsSeenWithinAHundredGets) {
  Pages pages;
  EXPECT_LE(polls_until_seen(pages, {64}), 100u);
  EXPECT_LE(polls_until_seen(pages, {64}), 100u);
}

TEST(PageCachePolls, AChangeIsSeenWhereTwoAddressesArePolled) {
  Pages pages;
  EXPECT_LE(polls_until_seen(pages, {64, 72}), 100u) << "of one line";
  EXPECT_LE(polls_until_seen(pages, {64, 4096}), 100u) << "of two pages";
}

// Wherever the words lie: pages whose hashes collide are all but one served slowly, and so is a
// word across two pages. A look refetches the polled word; no word may take every look from the
// others.
TEST(PageCachePolls, AChangeIsSeenWhicheverWordsArePolled) {
  std::mt19937 random(11);
  for (int run = 0; run < 300; ++run) {
    PageCacheOptions options = small_cache();
    options.page = 256;
    options.line = 8;
    options.size = 2 << 10;
    options.readahead = run % 2 == 0 ? 0 : 32 << 10;
    Pages pages(options, Laziness::eager, 16 << 10);
    std::vector<size_t> places(run % 4 + 1);
    for (size_t& place : places)
      place = random() % (pages.size - 8) & ~(random() % 4 == 0 ? size_t{0} : size_t{7});
    for (size_t i = 0; i < places.size(); ++i) {
      std::rotate(places.begin(), places.begin() + 1, places.end());
      ASSERT_LE(polls_until_seen(pages, places), 100u)
          << "run " << run << ", word " << i << " of " << places.size();
    }
  }
}

TEST(PageCachePolls, AChangeIsSeenAmongManyReadsWhenItIsOld) {
  PageCacheOptions options = small_cache();
  options.longest_age_ns = 0;
  Pages pages(options);
  for (size_t at = 0; at < 4096; at += 8) pages.get(at, 8);
  pages.other_writes(0, 8);
  const auto changed = [&] {
    return pages.read(0, 8) == Bytes(&pages.expect(0, 1), &pages.expect(0, 1) + 8);
  };
  int reads = 0;
  while (reads < 1000 && !changed()) {
    for (size_t at = 8; at < 4096; at += 8) pages.get(at, 8), ++reads;
  }
  EXPECT_LT(reads, 1000);
}

TEST(PageCachePolls, AChangeOfWhatThisProcessWroteIsSeen) {
  for (const bool started : {false, true}) {
    Pages pages(small_cache(), Laziness::eager);
    pages.put(64, 8);
    if (started) pages.start_write_back();
    const Bytes mine = pages.read(64, 8);
    uint64_t polls = 0;
    // Its owner answers once it has arrived.
    while (pages.net.owed(Pages::base + 64, 1) && polls < 1000) pages.read(64, 8), ++polls;
    pages.other_writes(64, 8);
    while (pages.read(64, 8) == mine && polls < 1000) ++polls;
    EXPECT_LE(polls, 200u) << (started ? "in flight" : "dirty");
  }
}

// The polled value may be the answer to something written elsewhere.
TEST(PageCachePolls, WhatWasWrittenIsOnItsWayWhileTheProgramPolls) {
  Pages pages;
  pages.put(8192, 8);
  for (int polls = 0; polls < 100; ++polls) pages.read(64, 8);
  EXPECT_FALSE(pages.net.anything_owed());
}

TEST(PageCachePolls, WhatWasWrittenIsOnItsWayAfterAHundredReadsFromTheNetwork) {
  Pages pages;
  pages.put(8192, 8);
  // seven pages, which evict none
  for (size_t i = 0; i < 100; ++i) pages.read(16384 + 64 * i, 8);
  EXPECT_FALSE(pages.net.anything_owed());
}

TEST(PageCacheAhead, ThePrefetchDistanceIsWhatFindsPlace) {
  Pages pages(reading_ahead(), Laziness::late, mebibyte);  // a staging area of 64 KiB
  EXPECT_EQ(pages.cache.prefetch_distance(), 64u);
  const auto after = [&](size_t bytes) {
    for (size_t i = 0; i < 50; ++i) pages.prefetch(i * 16384 % mebibyte, bytes);
    return pages.cache.prefetch_distance();
  };
  EXPECT_EQ(after(8), 64u);
  EXPECT_NEAR(static_cast<double>(after(4096)), 16, 1);
  EXPECT_EQ(after(8), 64u);
}

TEST(PageCacheAhead, ThePrefetchDistanceIsWhatASmallCacheHolds) {
  Pages pages;  // 16 pages
  EXPECT_EQ(pages.cache.prefetch_distance(), 4u);
}

// Data around each element are fetched along, so that the next column finds its elements cached.
TEST(PageCacheAhead, ColumnsOfAMatrixAreReadWithFewWaits) {
  constexpr size_t rows = 400, width = 2400;
  Pages pages(reading_ahead(), Laziness::late, mebibyte);
  const auto read = [&](size_t columns) {
    return pages.waits([&] {
      for (size_t column = 0; column < columns; ++column)
        for (size_t row = 0; row < rows; ++row) pages.get(row * width + column * 8, 8);
    });
  };
  EXPECT_LE(read(30), rows / 3);
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
