// What the page cache serves, puts and drops. For the order of own and others' accesses see
// page_cache_order_test.cpp; for reading ahead, prefetches and polls, page_cache_ahead_test.cpp.
#include "cache/page/page_cache.h"

#include "pages.h"

namespace nearcache::test {
namespace TEST_FILE {

TEST(PageCache, AReadFetchesItsLineAndServesItAfterwards) {
  Pages pages;
  EXPECT_FALSE(pages.served(100, 8));
  EXPECT_EQ(pages.net.counts().get_bytes, 64u);
  EXPECT_TRUE(pages.served(100, 8));
  EXPECT_TRUE(pages.served(64, 64)) << "the rest of the line";
  EXPECT_FALSE(pages.served(128, 1)) << "the next line";
  EXPECT_FALSE(pages.served(100, 8, 2)) << "another PE";
}

TEST(PageCache, AReadOverLinesAndPagesIsFetchedAsOneWhereItCan) {
  Pages pages;
  pages.get(1000, 300);
  EXPECT_LE(pages.net.counts().gets, 2u) << "one for each page at most";
  EXPECT_TRUE(pages.served(1000, 300));
  EXPECT_TRUE(pages.served(1020, 8)) << "over the border of the pages";
}

TEST(PageCache, WrittenAndValidBytesServeInAnyMix) {
  Pages pages;
  pages.get(0, 64);
  pages.put(64, 10);
  EXPECT_TRUE(pages.served(64, 10)) << "written, in a line that is not valid";
  EXPECT_TRUE(pages.served(60, 14)) << "valid, then written";
  pages.put(20, 3);
  EXPECT_TRUE(pages.served(10, 60)) << "valid, written, valid, written";
  EXPECT_FALSE(pages.served(60, 15)) << "one byte more than was written";
  EXPECT_TRUE(pages.served(64, 64));
}

TEST(PageCache, AFetchKeepsTheWrittenBytesOfItsLine) {
  Pages pages;
  for (size_t i = 0; i < 64; i += 3) pages.put(i, 1);
  pages.get(0, 64);
  pages.release();
  pages.get(0, 64);
}

TEST(PageCache, AWriteNeedsNoFetch) {
  Pages pages;
  pages.put(5, 1);
  pages.put(2000, 700);
  EXPECT_EQ(pages.net.counts().calls(), 0u);
  pages.release();
  EXPECT_EQ(pages.net.counts().gets + pages.net.counts().nbi_gets, 0u);
}

TEST(PageCache, OnlyWrittenBytesArePut) {
  Pages pages;
  pages.get(0, 64);
  pages.put(10, 1);
  pages.put(12, 1);
  pages.other_writes(11, 1);
  pages.other_writes(13, 20);
  pages.release();
  pages.acquire();
  pages.get(0, 64);
  EXPECT_EQ(pages.net.counts().put_bytes, 2u);
}

TEST(PageCache, WritesOfAdjacentPagesGoInOnePut) {
  Pages pages{PageCacheOptions()};
  for (size_t at = 512; at < 512 + 3072; at += 8) pages.put(at, 8);
  EXPECT_EQ(pages.net.counts().puts, 0u);
  pages.release();
  EXPECT_EQ(pages.net.counts().puts, 1u);
  EXPECT_EQ(pages.net.counts().quiets, 1u);
}

TEST(PageCache, ALineWrittenTwiceIsPutOnce) {
  Pages pages;
  pages.put(0, 64);
  pages.put(8, 8);
  pages.put(0, 64);
  pages.release();
  EXPECT_EQ(pages.net.counts().puts, 1u);
}

TEST(PageCache, FewPagesAreDirtyAtATime) {
  PageCacheOptions options = small_cache();
  for (const size_t limit : {1, 2, 4}) {
    options.dirty_pages = limit;
    Pages pages(options);
    for (size_t at = 0; at < 40 * 1024; at += 1024) {
      pages.put(at + 100, 16, 1 + static_cast<int>(at / 1024 % 2));
      EXPECT_LE(pages.dirty_pages(1024), limit);
    }
    pages.release();
  }
}

// A network that completes everything at once. Counts what is reported to it.
class Memory final : public PageTransport {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes, 0) {}
  void get(void* to, uint64_t address, size_t bytes, int) override {
    std::memcpy(to, &bytes_[address], bytes);
  }
  void get_nbi(void* to, uint64_t address, size_t bytes, int pe) override {
    get(to, address, bytes, pe);
  }
  void put(uint64_t address, const void* from, size_t bytes, int) override {
    std::memcpy(&bytes_[address], from, bytes);
  }
  void fence() override {}
  void quiet() override {}
  Extent extent(uint64_t, size_t, int) override { return {0, bytes_.size()}; }
  bool may_cache(uint64_t address, size_t bytes) override {
    return address >= uncached.end || address + bytes <= uncached.begin;
  }
  void answered(int, uint64_t address, size_t, bool from_cache) override {
    from_cache ? ++hits_told : ++misses_told;
    last_told = address;
  }
  uint8_t operator[](size_t at) const { return bytes_[at]; }

  uint64_t hits_told = 0, misses_told = 0, last_told = 0;
  Extent uncached;

 private:
  Bytes bytes_;
};

TEST(PageCache, EveryMissIsToldAndOfHitsOneOfEachLook) {
  Memory memory(64 << 10);
  PageCache cache;
  PageCacheOptions options = small_cache();
  options.readahead = 0;
  options.answers_told = true;
  ASSERT_TRUE(cache.create(options, &memory));
  uint64_t value = 0;
  constexpr uint64_t reads = 40 * PollDetector::reads_a_look;
  for (uint64_t i = 0; i < reads; ++i) cache.get(1, 8 * (i % 600), &value, sizeof value);
  EXPECT_EQ(memory.misses_told, cache.counters().gets - cache.counters().hits);
  EXPECT_GT(memory.misses_told, 0u);
  EXPECT_LE(memory.hits_told, 40u);
  EXPECT_GE(memory.hits_told, 30u);  // looks that coincide with misses are not hits
  EXPECT_LT(memory.last_told, 8u * 600);
}

TEST(PageCache, AnAcquireCountsWhatItDrops) {
  Memory memory(64 << 10);
  PageCache cache;
  PageCacheOptions options = small_cache();
  options.readahead = 0;
  ASSERT_TRUE(cache.create(options, &memory));
  std::vector<uint8_t> bytes(2 * options.line);
  cache.get(1, 0, bytes.data(), bytes.size());
  cache.get(1, 5000, bytes.data(), 1);
  EXPECT_EQ(cache.valid_bytes(), 3 * options.line);
  cache.overtaken(1, 5000, 1);
  EXPECT_EQ(cache.valid_bytes(), 2 * options.line);
  cache.acquire();
  cache.acquire();
  EXPECT_EQ(cache.counters().dropped_bytes, 2 * options.line);
  EXPECT_EQ(cache.valid_bytes(), 0u);
  EXPECT_EQ(cache.broken(), nullptr) << cache.broken();
}

TEST(PageCache, MoreDirtyPagesThanThereAreNumbersForAreHeld) {
  constexpr size_t page = 256, pages = 70000;
  PageCacheOptions options = small_cache();
  options.page = page;
  options.line = 64;
  options.size = pages * page;
  for (const size_t wanted : {pages, size_t{65535}, size_t{65536}, SIZE_MAX}) {
    options.dirty_pages = wanted;
    Memory memory(pages * page);
    PageCache cache;
    ASSERT_LT(PageCache::memory_bytes(options), size_t{64} << 20);
    ASSERT_TRUE(cache.create(options, &memory));
    for (size_t i = 0; i < pages; ++i) {
      const auto value = static_cast<uint8_t>(i % 251 + 1);
      cache.put(1, i * page + i % page, &value, 1);
    }
    EXPECT_EQ(cache.broken(), nullptr) << cache.broken();
    cache.release();
    for (size_t i = 0; i < pages; ++i)
      ASSERT_EQ(memory[i * page + i % page], i % 251 + 1) << "with " << wanted << " at page " << i;
  }
}

TEST(PageCache, AQuickPutWritesNoPageOfWhichAPartMustNotBeCached) {
  Memory memory(8 << 10);
  memory.uncached = {512, 576};
  PageCache cache;
  ASSERT_TRUE(cache.create(small_cache(), &memory));
  const uint64_t value = 7;
  for (int round = 0; round < 3; ++round) {
    for (const uint64_t page : {0, 1024}) cache.put(1, page, &value, sizeof value);
    EXPECT_FALSE(cache.put_quickly(1, 512, &value, sizeof value));
    EXPECT_FALSE(cache.put_quickly(1, 8, &value, sizeof value)) << "such pages have no fast path";
    EXPECT_TRUE(cache.put_quickly(1, 1032, &value, sizeof value));
    cache.put(1, 8, &value, sizeof value);
    EXPECT_EQ(cache.broken(), nullptr) << cache.broken();
    EXPECT_EQ(cache.counters().network_puts, 2u * static_cast<unsigned>(round));
    cache.release();
    EXPECT_EQ(cache.counters().network_puts, 2u * static_cast<unsigned>(round + 1));
  }
  for (const size_t at : {0, 8, 1024, 1032}) EXPECT_EQ(memory[at], 7) << at;
  EXPECT_EQ(memory[512], 0);
}

TEST(PageCache, NoDirtyPagesAreTakenAsOneAndNoReadaheadAsMoreThanCanBeNumbered) {
  PageCacheOptions options = small_cache();
  options.dirty_pages = 0;
  options.readahead = SIZE_MAX;
  Memory memory(64 << 10);
  PageCache cache;
  ASSERT_TRUE(cache.create(options, &memory));
  const uint8_t value = 7;
  for (size_t at = 0; at < 64 << 10; at += 512) cache.put(1, at, &value, 1);
  EXPECT_EQ(cache.broken(), nullptr) << cache.broken();
  cache.release();
  for (size_t at = 0; at < 64 << 10; at += 512) ASSERT_EQ(memory[at], 7);
}

TEST(PageCache, WriteBehindDoesNotWait) {
  Pages pages;
  for (size_t at = 0; at < 8 * 1024; at += 512) pages.put(at, 16);
  EXPECT_EQ(pages.net.counts().waits(), 0u);
  EXPECT_GT(pages.net.counts().puts, 0u);
}

TEST(PageCache, EvictedDirtyPagesAreNotLost) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    PageCacheOptions options = small_cache();
    options.size = 4096;
    options.dirty_pages = 3;
    Pages pages(options, laziness);
    for (size_t at = 0; at < 200 * 1024; at += 1000) pages.put(at, 50);
    for (size_t at = 0; at < 200 * 1024; at += 1000) pages.get(at, 60);
    for (size_t at = 0; at < 200 * 1024; at += 700) pages.put(at, 5), pages.get(at + 300, 5);
    pages.release();
    EXPECT_GT(pages.cache.counters().evictions, 0u);
  }
}

TEST(PageCache, AccessesLongerThanTheCacheAreRight) {
  for (const Laziness laziness : {Laziness::eager, Laziness::late, Laziness::random}) {
    Pages pages(small_cache(), laziness);
    pages.put(333, 100000);
    pages.get(5, 150000);
    pages.put(50000, 3);
    pages.get(49990, 20);
    pages.release();
  }
}

TEST(PageCache, EmptyAccessesDoNothing) {
  Pages pages;
  pages.get(0, 0);
  pages.put(10, 0);
  pages.prefetch(10, 0);
  pages.cache.before_direct_get(1, Pages::base, 0);
  pages.cache.before_direct_put(1, Pages::base, 0);
  pages.cache.before_direct_update(1, Pages::base, 0);
  pages.cache.forget(Pages::base, 0);
  pages.release();
  EXPECT_EQ(pages.net.counts().calls(), 0u);
}

TEST(PageCache, LinesAtTheEndsOfASegmentAreClippedAndKept) {
  const uint64_t base = Pages::base;
  Pages pages(small_cache(), Laziness::late, 8192,
              {{base + 30, base + 1000}, {base + 1030, base + 3001}, {base + 4096, base + 4104}});
  for (const size_t at : {30, 999, 1030, 3000, 4096, 4103}) {
    pages.get(at, 1);
    EXPECT_TRUE(pages.served(at, 1)) << at;
  }
  pages.get(30, 970);
  pages.put(998, 2);
  pages.put(3000, 1);
  EXPECT_TRUE(pages.served(998, 2));
  EXPECT_TRUE(pages.served(3000, 1));
  EXPECT_TRUE(pages.served(4096, 8));
  pages.release();
}

TEST(PageCache, MemoryOfWhichNothingIsKnownIsReadAsAskedAndNotKept) {
  Pages pages;
  pages.net.extents_known(false);
  pages.get(100, 8);
  EXPECT_EQ(pages.net.counts().get_bytes, 8u);
  pages.get(1000, 100);
  EXPECT_EQ(pages.net.counts().get_bytes, 108u);
  pages.put(100, 4);
  pages.get(96, 16);
  pages.release();
}

// More PEs than chains: pages with the same number on different PEs share a chain.
TEST(PageCache, PagesOfDifferentPEsAreToldApart) {
  PagePool pool;
  constexpr size_t frames = 8;
  std::vector<uint64_t> memory(PagePool::bytes(frames) / sizeof(uint64_t) + 8);
  const uintptr_t start = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
  pool.create(reinterpret_cast<void*>(start), frames);
  bool used = false;
  Page& page = pool.insert(pool.victim(&used), 0, 5);
  EXPECT_EQ(pool.find(0, 5), &page);
  for (int pe = 1; pe < 200; ++pe) EXPECT_EQ(pool.find(pe, 5), nullptr) << pe;
  EXPECT_EQ(pool.find(0, 6), nullptr);
}

TEST(PageCache, AWorkingSetOutlivesAScan) {
  PageCacheOptions options = small_cache();
  options.size = 64 << 10;
  Pages pages(options);
  size_t fresh = 32;
  for (int round = 0; round < 12; ++round) {
    for (size_t page = 0; page < 8; ++page) pages.get(page * 1024, 8);
    for (size_t i = 0; i < 12; ++i) pages.get((fresh = fresh < 250 ? fresh + 1 : 32) * 1024, 8);
  }
  for (size_t page = 40; page < 250; ++page) pages.get(page * 1024, 8);
  size_t kept = 0;
  for (size_t page = 0; page < 8; ++page) kept += pages.served(page * 1024, 8);
  EXPECT_GE(kept, 6u);
}

TEST(PageCache, ReleaseOfNothingIsFree) {
  Pages pages;
  pages.get(0, 8);
  pages.put(0, 8);
  pages.release();
  const uint64_t calls = pages.net.counts().calls();
  pages.release();
  pages.start_write_back();
  EXPECT_EQ(pages.net.counts().calls(), calls);
}

TEST(PageCache, WhatWasReadStaysAfterARelease) {
  Pages pages;
  pages.get(0, 64);
  pages.put(8, 8);
  pages.release();
  EXPECT_TRUE(pages.served(0, 64));
}

TEST(PageCache, ForgottenBytesAreNeverPut) {
  Pages pages;
  pages.put(1000, 2000);
  pages.net.forget(Pages::base + 1100, 1500);
  pages.cache.forget(Pages::base + 1100, 1500);
  pages.sound();
  pages.cache.release();
  pages.sound();
  EXPECT_EQ(pages.net.counts().put_bytes, 500u) << "the bytes around them are put";
  EXPECT_FALSE(pages.net.anything_owed());
}

TEST(PageCache, AllPEsAreForgotten) {
  Pages pages;
  for (const int pe : {0, 1, 2}) pages.put(64, 8, pe), pages.get(512, 8, pe);
  pages.net.forget(Pages::base, 4096);
  pages.cache.forget(Pages::base, 4096);
  pages.sound();
  EXPECT_FALSE(pages.cache.dirty());
  pages.cache.release();
  EXPECT_EQ(pages.net.counts().puts, 0u);
  for (const int pe : {0, 1, 2}) {
    EXPECT_FALSE(pages.cache.holds(pe, Pages::base + 64, 8));
    EXPECT_FALSE(pages.cache.holds(pe, Pages::base + 512, 8));
  }
}

TEST(PageCache, NothingOfAForgottenBlockIsServed) {
  Pages pages;
  pages.get(0, 256);
  pages.prefetch(1024, 512);
  pages.cache.forget(Pages::base + 10, 1300);
  pages.sound();
  pages.other_writes(10, 1300);
  pages.get(0, 2048);
}

TEST(PageCache, HoldsTellsTheTruthAndChangesNothing) {
  Pages pages;
  pages.get(0, 64);
  pages.put(70, 4);
  const uint64_t calls = pages.net.counts().calls();
  const auto holds = [&](size_t at, size_t bytes, int pe = 1) {
    return pages.cache.holds(pe, Pages::base + at, bytes);
  };
  EXPECT_TRUE(holds(0, 64));
  EXPECT_TRUE(holds(70, 4));
  EXPECT_FALSE(holds(69, 2));
  EXPECT_FALSE(holds(0, 65));
  EXPECT_FALSE(holds(0, 8, 2));
  EXPECT_FALSE(holds(5000, 1));
  pages.acquire();
  EXPECT_FALSE(holds(0, 64));
  EXPECT_TRUE(holds(70, 4));
  EXPECT_EQ(pages.net.counts().calls(), calls);
}

TEST(PageCache, CountsWhatItDoes) {
  Pages pages;
  pages.get(0, 8);
  pages.get(0, 16);
  pages.put(0, 4);
  pages.release();
  const PageCacheCounters& counters = pages.cache.counters();
  EXPECT_EQ(counters.gets, 2u);
  EXPECT_EQ(counters.hits, 1u);
  EXPECT_EQ(counters.puts, 1u);
  EXPECT_EQ(counters.get_bytes, 24u);
  EXPECT_EQ(counters.hit_bytes, 16u);
  EXPECT_EQ(counters.put_bytes, 4u);
  EXPECT_EQ(counters.network_gets, pages.net.counts().gets + pages.net.counts().nbi_gets);
  EXPECT_EQ(counters.network_get_bytes, pages.net.counts().get_bytes);
  EXPECT_EQ(counters.network_puts, pages.net.counts().puts);
  EXPECT_EQ(counters.network_put_bytes, pages.net.counts().put_bytes);
  EXPECT_EQ(counters.quiets, pages.net.counts().quiets);
  EXPECT_EQ(counters.releases, 1u);
}

TEST(PageCache, AMebibyteOfPagesTakesLittleMore) {
  PageCacheOptions options;
  options.size = 1 << 20;
  EXPECT_GE(PageCache::memory_bytes(options), size_t{1} << 20);
  EXPECT_LE(PageCache::memory_bytes(options), static_cast<size_t>(1.3 * (1 << 20)));
}

TEST(PageCache, EveryShapeOfPagesAndLinesWorks) {
  for (size_t page = 256; page <= 65536; page *= 2) {
    for (size_t line = page / 64; line <= page; line *= 2) {
      PageCacheOptions options;
      options.page = page;
      options.line = line;
      options.size = 8 * page;
      options.dirty_pages = 2;
      options.readahead = page;
      Pages pages(options, Laziness::random, 128 << 10);
      for (size_t at = 7; at + 400 < pages.size; at += pages.size / 37)
        pages.put(at, 11), pages.get(at + 3, 300);
      for (size_t at = 0; at < 4096; at += 8) pages.get(at, 8);
      pages.release();
    }
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
