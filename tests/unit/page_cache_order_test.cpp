// The order of own accesses, and what others may have written: puts in flight, acquire and release,
// accesses past the cache.
#include "cache/page/page_cache.h"

#include "pages.h"

namespace nearcache::test {
namespace TEST_FILE {

TEST(PageCacheOrder, AGetOfAPutInFlightIsServed) {
  Pages pages;
  pages.put(100, 8);
  pages.start_write_back();
  EXPECT_TRUE(pages.cache.in_flight());
  EXPECT_TRUE(pages.served(100, 8));
}

TEST(PageCacheOrder, WhatAPageHasGivenUpIsKnownAsWrittenUntilItIsComplete) {
  Pages pages;
  for (size_t page = 0; page <= small_cache().dirty_pages; ++page) pages.put(page * 1024, 64);
  EXPECT_TRUE(pages.served(0, 64));
  EXPECT_NE(pages.net.memory(Pages::base, 1), pages.expect(0, 1));
  EXPECT_TRUE(pages.cache.wrote(1, Pages::base));
  pages.release();
  EXPECT_FALSE(pages.cache.wrote(1, Pages::base));
}

TEST(PageCacheOrder, OtherBytesOfAPageDoNotWaitForAPutInFlight) {
  Pages pages;
  pages.put(100, 8);
  pages.start_write_back();
  pages.get(64, 64);
  pages.get(512, 8);
  EXPECT_EQ(pages.net.counts().quiets, 0u);
  pages.put(300, 8);
  pages.start_write_back();
  EXPECT_EQ(pages.net.counts().quiets, 0u);
  EXPECT_EQ(pages.net.counts().fences, 0u);
  pages.release();
  pages.get(0, 1024);
}

TEST(PageCacheOrder, PutsOfOneByteAreOrderedByAFence) {
  for (const Laziness laziness : {Laziness::late, Laziness::random}) {
    Pages pages(small_cache(), laziness);
    for (int i = 0; i < 20; ++i) {
      pages.put(100 + static_cast<size_t>(i % 3), 8);
      pages.start_write_back();
      EXPECT_TRUE(pages.served(100, 8));
    }
    EXPECT_EQ(pages.net.counts().quiets, 0u);
    EXPECT_GT(pages.net.counts().fences, 0u);
    pages.release();
  }
}

TEST(PageCacheOrder, AFlagAfterOtherPutsIsPutAtOnce) {
  Pages pages;
  pages.put(100, 200);
  pages.start_write_back();
  pages.net.fence();
  pages.cache.flag_may_follow();
  pages.get(600, 8);
  pages.put(400, 8);  // in the page that has bytes in flight
  EXPECT_EQ(pages.net.counts().puts, 2u);
  EXPECT_FALSE(pages.net.anything_owed());
  EXPECT_FALSE(pages.cache.dirty());
  pages.put(408, 8);
  EXPECT_TRUE(pages.cache.dirty()) << "only the first";
  pages.release();
  pages.cache.flag_may_follow();
  pages.put(1020, 8);
  EXPECT_FALSE(pages.cache.dirty()) << "in two pages";
  pages.release();
  pages.cache.flag_may_follow();
  pages.put(2000, 9);
  pages.put(2100, 8);
  EXPECT_TRUE(pages.cache.dirty()) << "what is longer is data, and what follows it too";
  pages.release();
}

TEST(PageCacheOrder, AFetchUnderAPutInFlightKeepsWhatWasPut) {
  Pages pages;
  pages.put(100, 8);
  pages.start_write_back();
  pages.get(64, 64);
  EXPECT_TRUE(pages.served(64, 64));
  pages.release();
  EXPECT_TRUE(pages.served(100, 8)) << "the line was valid around it";
}

TEST(PageCacheOrder, AnEvictedPutInFlightIsReadAsItWasPut) {
  PageCacheOptions options = small_cache();
  options.size = 4096;
  Pages pages(options);
  pages.put(100, 8);
  pages.start_write_back();
  for (size_t at = 8192; at < 100000; at += 1024) pages.get(at, 8);
  pages.get(100, 8);
  pages.get(64, 64);
}

TEST(PageCacheOrder, AcquireDropsWhatWasRead) {
  Pages pages;
  pages.get(0, 200);
  pages.other_writes(0, 200);
  pages.acquire();
  pages.get(0, 200);
}

TEST(PageCacheOrder, AcquireKeepsWhatIsNotReleased) {
  Pages pages;
  pages.get(0, 64);
  pages.put(10, 4);
  pages.acquire();
  EXPECT_TRUE(pages.served(10, 4));
  pages.other_writes(0, 10);
  pages.other_writes(14, 50);
  pages.get(0, 64);
  pages.release();
}

TEST(PageCacheOrder, AcquireDropsWhatIsFetchedAhead) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late}) {
    Pages pages(small_cache(), laziness);
    pages.prefetch(0, 512);
    pages.other_writes(0, 512);
    pages.acquire();
    pages.get(0, 256);
    pages.prefetch(256, 512);
    pages.get(256, 512);
  }
}

// Put, fence and a flag allow the target to overwrite the data put, before this process calls
// quiet.
TEST(PageCacheOrder, AfterAnAcquireAPutInFlightNoLongerHidesWhatOthersWrote) {
  Pages pages(small_cache(), Laziness::eager);
  pages.put(100, 8);
  pages.start_write_back();
  pages.other_writes(100, 8);
  pages.acquire();
  pages.get(100, 8);
  pages.put(200, 8);
  pages.start_write_back();
  pages.other_writes(200, 8);
  pages.acquire();
  pages.get(192, 64);
  pages.get(200, 8);
}

TEST(PageCacheOrder, AfterAReleaseOthersMayWriteTheSameBytes) {
  Pages pages;
  pages.put(100, 8);
  pages.release();
  pages.other_writes(96, 16);
  pages.acquire();
  pages.get(100, 8);
  pages.put(104, 8);
  pages.quiet();
  pages.other_writes(96, 16);
  pages.acquire();
  pages.get(96, 16);
}

TEST(PageCacheOrder, WhatArrivesAtAQuietOfTheFrontEndIsServed) {
  Pages pages;
  pages.prefetch(0, 128);
  pages.put(10, 4);
  pages.quiet();
  EXPECT_TRUE(pages.served(0, 128));
}

TEST(PageCacheOrder, AWriteOverWhatIsFetchedAheadStays) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    Pages pages(small_cache(), laziness);
    pages.prefetch(0, 256);
    pages.put(10, 100);
    pages.get(0, 256);
    pages.prefetch(1024, 256);
    pages.put(1030, 100);
    pages.release();
    pages.get(1024, 256);
  }
}

// The prefetch reads when it is issued, the put completes, and only then does the prefetch arrive.
TEST(PageCacheOrder, APutReleasedBeforeAPrefetchArrivesIsNotUndone) {
  Pages pages(small_cache(), Laziness::eager);
  pages.prefetch(0, 256);
  pages.put(10, 100);
  pages.release();
  pages.get(0, 256);
  pages.prefetch(1024, 64);
  pages.put(1030, 8);
  pages.start_write_back();
  pages.put(1030, 4);
  pages.quiet();
  pages.get(1024, 64);
}

// The pieces of a long run share a staging area, which must not overlap that of the data read
// ahead.
TEST(PageCacheOrder, ALongRunIsPutWhileOtherMemoryArrives) {
  Pages pages(PageCacheOptions(), Laziness::eager, 512 << 10);
  for (size_t at = 0; at < 16 << 10; at += 1024) pages.prefetch(at, 1024);
  pages.put((256 << 10) + 100, 64000);
  EXPECT_GT(pages.cache.counters().prefetches, pages.cache.counters().prefetches_dropped);
  pages.quiet();
  for (size_t at = 0; at < 16 << 10; at += 64) pages.get(at, 64);
  pages.release();
}

TEST(PageCacheOrder, ADirectGetFindsWhatWasWritten) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    Pages pages(small_cache(), laziness);
    pages.put(100, 50);
    pages.put(1200, 50);
    pages.start_write_back();
    pages.put(110, 20);
    pages.cache.before_direct_get(1, Pages::base + 90, 2000);
    pages.sound();
    Bytes to(2000);
    pages.net.get(to.data(), Pages::base + 90, to.size(), 1);
    EXPECT_EQ(to, Bytes(&pages.expect(90, 1), &pages.expect(90, 1) + 2000));
  }
}

TEST(PageCacheOrder, ADirectGetOfWhatWasNotWrittenCostsNothing) {
  Pages pages;
  pages.get(64, 64);
  pages.put(200, 8);
  const uint64_t calls = pages.net.counts().calls();
  pages.cache.before_direct_get(1, Pages::base + 64, 64);
  pages.cache.before_direct_get(2, Pages::base + 200, 8);
  EXPECT_EQ(pages.net.counts().calls(), calls);
  EXPECT_TRUE(pages.served(64, 64));
}

void direct_put(Pages& pages, size_t at, size_t bytes) {
  pages.cache.before_direct_put(1, Pages::base + at, bytes);
  pages.sound();
  pages.net.forget(Pages::base + at, bytes, 1);
  Bytes from(bytes, 99);
  std::fill_n(&pages.expect(at, 1), bytes, 99);
  pages.net.direct_put(Pages::base + at, from.data(), bytes, 1);
}

TEST(PageCacheOrder, ADirectPutReplacesWhatWasReadAndWritten) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    Pages pages(small_cache(), laziness);
    pages.get(0, 2048);
    pages.put(100, 50);
    pages.start_write_back();
    pages.put(1200, 50);
    direct_put(pages, 90, 1300);
    pages.quiet();
    pages.get(0, 2048);
    pages.release();
  }
}

TEST(PageCacheOrder, APutAfterADirectPutIsOrderedBehindIt) {
  Pages pages;
  direct_put(pages, 0, 1000);
  pages.put(10, 8);
  pages.release();
  pages.get(0, 1000);
}

// Nothing may overtake the fetch, but it may overtake the put: the fetched data must not outlive
// the quiet.
TEST(PageCacheOrder, WhatIsFetchedUnderADirectPutIsDroppedWhenThePutIsComplete) {
  Pages pages;
  direct_put(pages, 0, 100);
  pages.read(96, 16);
  pages.prefetch(0, 64);
  pages.quiet();
  pages.get(0, 128);
}

TEST(PageCacheOrder, ADirectUpdateFindsWhatWasWrittenAndIsReadAfterwards) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    Pages pages(small_cache(), laziness);
    pages.get(0, 256);
    pages.put(100, 8);
    pages.cache.before_direct_update(1, Pages::base + 104, 8);
    pages.sound();
    EXPECT_FALSE(pages.net.owed(Pages::base + 104, 1));
    const uint8_t byte = 42;
    pages.net.direct_put(Pages::base + 105, &byte, 1, 1);
    pages.expect(105, 1) = byte;
    pages.quiet();
    pages.get(0, 256);
  }
}

TEST(PageCacheOrder, ADirectUpdateKeepsTheRestOfTheLine) {
  Pages pages;
  pages.get(0, 64);
  pages.cache.before_direct_update(1, Pages::base + 16, 8);
  EXPECT_EQ(pages.net.counts().waits(), 1u) << "nothing to wait for";
  EXPECT_FALSE(pages.cache.holds(1, Pages::base + 16, 8));
}

// A put with signal changes two ranges. Where the signal was in flight, a fence makes way for it,
// which comes before the data.
TEST(PageCacheOrder, APutAfterASecondUpdateToASignalIsOrderedBehindItsData) {
  Pages pages;
  const uint64_t data = Pages::base, signal = Pages::base + 4096;
  const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
  pages.cache.before_direct_update(1, signal, sizeof bytes);
  pages.net.direct_put(signal, bytes, sizeof bytes, 1);
  pages.cache.before_direct_update(1, data, sizeof bytes);
  pages.cache.before_direct_update(1, signal, sizeof bytes);
  pages.cache.not_issued_yet(1, data, sizeof bytes);
  EXPECT_EQ(pages.net.counts().fences, 1u);
  std::memcpy(&pages.expect(4096, 1), bytes, sizeof bytes);
  pages.net.direct_put(signal, bytes, sizeof bytes, 1);
  pages.net.direct_put(data, bytes, sizeof bytes, 1);
  pages.put(0, 8);
  pages.release();
  EXPECT_EQ(pages.net.counts().fences, 2u);
}

// When a block is freed while a put to it is in flight, its bytes are read again only after the put
// is complete.
TEST(PageCacheOrder, AForgottenPutUnderWayIsNotOvertaken) {
  Pages pages;
  pages.put(8192, 8);
  pages.start_write_back();
  pages.cache.forget(Pages::base + 8192, 64);
  pages.sound();
  EXPECT_GT(pages.waits([&] { pages.get(8192, 8); }), 1u) << "a quiet and a get";
  pages.release();
}

TEST(PageCacheOrder, AReleaseCompletesWhatWentPastTheCache) {
  Pages pages;
  pages.cache.before_direct_put(1, Pages::base + 8192, 8);
  EXPECT_TRUE(pages.cache.in_flight());
  pages.release();
  EXPECT_EQ(pages.cache.counters().quiets, 1u);
}

TEST(PageCacheOrder, AScatteredWriteIsReadWhenItHasArrived) {
  Pages pages(small_cache(), Laziness::late, 1 << 20);
  for (size_t i = 0; i < 200; ++i) pages.put((i * 389 % 997) * 1024 + 8, 8);
  pages.release();
  int awaited = 0;
  for (size_t i = 0; i < 4; ++i) {  // one in 64 goes through the cache
    const size_t at = (i * 211 % 997) * 1024 + 512;
    pages.put(at, 8);
    if (!pages.cache.dirty()) awaited += pages.waits([&] { pages.get(at - 8, 24); }) > 1 ? 1 : 0;
    pages.release();
  }
  EXPECT_GE(awaited, 3) << "a quiet and a get";
}

TEST(PageCacheOrder, LongAccessesPastTheCacheAreRememberedHoweverManyThereAre) {
  InFlight in_flight;
  constexpr uint64_t bytes = 5000, apart = 1 << 20;
  for (uint64_t i = 0; i < 40; ++i)
    in_flight.add(static_cast<int>(i % 3), i * apart, i * apart + bytes);
  for (uint64_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(
        in_flight.may_overlap(static_cast<int>(i % 3), i * apart + bytes - 1, i * apart + bytes))
        << i;
    EXPECT_TRUE(in_flight.may_overlap(static_cast<int>(i % 3), i * apart, i * apart + 1)) << i;
  }
  EXPECT_FALSE(in_flight.may_overlap(1, 41 * apart, 41 * apart + 8));
  in_flight.clear();
  EXPECT_FALSE(in_flight.may_overlap(0, 0, bytes));
}

// Scattered writes gain nothing from pages: they are put at once, stay in order, and leave cached
// data in place.
TEST(PageCacheOrder, ScatteredWritesGoAroundTheCacheInOrder) {
  Pages pages(small_cache(), Laziness::late, 1 << 20);
  const size_t page = 1024;
  for (size_t i = 0; i < 200; ++i) pages.put((i * 389 % 997) * page + 8, 8);
  for (size_t i = 0; i < 4; ++i) pages.get(i * 64, 8, 2);
  const size_t dirty = pages.dirty_pages(page);
  for (size_t i = 0; i < 60; ++i) pages.put((i * 211 % 997) * page + 512, 8);
  EXPECT_LE(pages.dirty_pages(page), dirty + 1) << "they wait in pages";
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(pages.served(i * 64, 8, 2)) << "they push out what was read";
  // again, over those in flight
  for (size_t i = 0; i < 60; ++i) pages.put((i * 211 % 997) * page + 512, 8);
  for (size_t i = 0; i < 60; ++i) pages.get((i * 211 % 997) * page + 508, 16);
  pages.release();
}

// A small put past the cache, across two lines: one is cached, the other is being fetched since
// before the put.
TEST(PageCacheOrder, AScatteredWriteOverALineOnItsWayIsNotUndone) {
  Pages pages(small_cache(), Laziness::late, 1 << 20);
  const size_t page = 1024, at = 998 * page;
  for (size_t i = 0; i < 200; ++i) pages.put((i * 389 % 997) * page + 8, 8);
  pages.release();
  for (int attempt = 0; attempt < 4; ++attempt) {  // one put in 64 is not treated as scattered
    const size_t lines = at + static_cast<size_t>(attempt) * 4 * page;
    pages.get(lines, 8);
    pages.prefetch(lines + 64, 8);
    pages.put(lines + 60, 8);
    pages.quiet();
    pages.get(lines, 128);
    pages.get(lines + 64, 64);
  }
  pages.release();
}

// They are recognised when they become a stream.
TEST(PageCacheOrder, AStreamAfterScatteredWritesIsAggregated) {
  Pages pages(small_cache(), Laziness::late, 1 << 20);
  for (size_t i = 0; i < 200; ++i) pages.put((i * 389 % 997) * 1024 + 8, 8);
  pages.release();
  const uint64_t before = pages.net.counts().puts;
  for (size_t at = 0; at < 64 << 10; at += 8) pages.put(at, 8);
  pages.release();
  EXPECT_LE(pages.net.counts().puts - before, 80u) << "of 8192 writes to 64 pages";
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
