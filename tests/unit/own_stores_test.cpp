// How an owner's stores to its own window memory change the words that readers check.
#include "mpi/coherence/own_stores.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace nearcache::mpi {
namespace TEST_FILE {

constexpr uint64_t page = 4096, regions_of_pages = 64;

Allowance plenty() { return {1, INT64_MAX / 2, clock_ticks()}; }

class OwnStoresTest : public testing::Test {
 protected:
  static constexpr uint64_t bytes = regions_of_pages * page;
  void SetUp() override {
    memory = static_cast<unsigned char*>(
        mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    const int probe = tracker.watch(memory, bytes);
    if (!tracker.is_protected(probe))
      GTEST_SKIP() << "this kernel does not tell which pages are written";
    tracker.unwatch(probe);
  }
  void TearDown() override { munmap(memory, bytes + page); }

  // Looks during which this process loses its core use up the time for looks: then nothing is
  // watched for a while.
  void look_until_usable(OwnStores& own, uint32_t region) {
    const uint64_t until = clock_ticks() + static_cast<uint64_t>(5e9 / ns_per_tick());
    while (!words.usable(region) && clock_ticks() < until) own.look();
  }
  // For the same reason, tries again until these regions and no others are volatile. Returns the
  // last version that the first of them had while readers could use it.
  uint64_t write_until_volatile(std::optional<OwnStores>& own,
                                const std::vector<uint32_t>& written) {
    uint64_t last_usable = 0;
    for (int tries = 0; tries < 50 && (!own || own->volatile_regions() != written.size());
         ++tries) {
      last_usable = 0;
      own.emplace(memory, bytes, regions, &words, &tracker, &watching);
      own->look();
      for (int i = 0; i < 8; ++i) {
        for (const uint32_t region : written) memory[region * page] = static_cast<unsigned char>(i);
        own->look();
        if (words.usable(written[0])) last_usable = words.own[written[0]];
      }
    }
    return last_usable;
  }

  VersionWords words{};
  unsigned char* memory = nullptr;
  WriteTracker tracker;
  Allowance watching = plenty();
  Regions regions{bytes};
};

TEST_F(OwnStoresTest, NoPageLiesInTwoRegionsWhereverTheMemoryBegins) {
  for (const uint64_t lead : {uint64_t{0}, uint64_t{16}, page - 8}) {
    OwnStores own(memory + lead, bytes, regions, &words, &tracker, &watching);
    own.look();
    for (const uint64_t at : {uint64_t{0}, page - 1, page, 5 * page + 20, 62 * page + 5}) {
      const VersionWords before = words;
      const uint64_t first = std::max(at, lead);
      memory[first] ^= 1;
      own.look();
      const uint32_t its = regions.of_owner(words).of(static_cast<int64_t>(first - lead));
      for (uint32_t region = 0; region < VersionWords::regions; ++region)
        EXPECT_EQ(words.own[region] != before.own[region], region == its) << lead << ' ' << at;
      EXPECT_EQ(its, at / page) << lead;
    }
  }
}

TEST_F(OwnStoresTest, EverythingIsVolatileUntilTheFirstLook) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  for (uint32_t region = 0; region < VersionWords::regions; ++region)
    EXPECT_FALSE(words.usable(region));
  own.look();
  for (uint32_t region = 0; region < VersionWords::regions; ++region)
    EXPECT_TRUE(words.usable(region));
}

TEST_F(OwnStoresTest, AStoreChangesItsRegionAtTheNextLookAndNoOther) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  own.look();
  const VersionWords before = words;
  memory[5 * page + 17] = 1;
  EXPECT_EQ(words.own, before.own) << "not before a look";
  own.look();
  for (uint32_t region = 0; region < VersionWords::regions; ++region)
    EXPECT_EQ(words.own[region] != before.own[region], region == 5) << region;
  EXPECT_TRUE(words.usable(5));
  const VersionWords after = words;
  own.look();
  EXPECT_EQ(words.own, after.own) << "once";
}

TEST_F(OwnStoresTest, AStoreOfTheSameValueAndBackIsOne) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  own.look();
  const VersionWords before = words;
  *static_cast<volatile unsigned char*>(memory) = 7;
  *static_cast<volatile unsigned char*>(memory) = 0;
  own.look();
  EXPECT_NE(words.own[0], before.own[0]) << "somebody may have read it in between";
}

TEST_F(OwnStoresTest, ReadsAndOtherThreadsAreSeen) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  own.look();
  const VersionWords before = words;
  std::thread([&] { memory[9 * page] = 1; }).join();
  const int zero = open("/dev/zero", O_RDONLY);
  ASSERT_EQ(read(zero, memory + 11 * page, 100), 100);
  close(zero);
  own.look();
  EXPECT_NE(words.own[9], before.own[9]);
  EXPECT_NE(words.own[11], before.own[11]);
  EXPECT_EQ(words.own[10], before.own[10]);
}

TEST_F(OwnStoresTest, MemoryThatIsMappedAnewHasChanged) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  memory[3 * page] = 1;
  own.look();
  const VersionWords before = words;
  ASSERT_EQ(madvise(memory + 3 * page, page, MADV_DONTNEED), 0);
  own.look();
  EXPECT_NE(words.own[3], before.own[3]);
}

TEST_F(OwnStoresTest, HugePagesAreSeen) {
  constexpr uint64_t huge = 2 << 20;
  auto* area = static_cast<unsigned char*>(
      mmap(nullptr, 3 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(area, MAP_FAILED);
  unsigned char* aligned = area + (huge - reinterpret_cast<uintptr_t>(area) % huge) % huge;
  madvise(aligned, huge, MADV_HUGEPAGE);
  std::memset(aligned, 1, huge);
  {
    VersionWords its{};
    OwnStores own(aligned, huge, Regions(huge), &its, &tracker, &watching);
    own.look();
    const VersionWords before = its;
    aligned[huge / 2] = 2;
    own.look();
    EXPECT_NE(its.own[32], before.own[32]);
  }
  munmap(area, 3 * huge);
}

TEST_F(OwnStoresTest, AWindowThatBeginsAndEndsInPagesIsWatchedWhole) {
  OwnStores own(memory + 100, 3 * page, Regions(3 * page), &words, &tracker, &watching);
  own.look();
  for (const uint64_t at : {uint64_t{0}, 3 * page - 1}) {
    const VersionWords before = words;
    memory[100 + at] ^= 1;
    own.look();
    EXPECT_NE(words.own[Regions(3 * page).of(static_cast<int64_t>(at))],
              before.own[Regions(3 * page).of(static_cast<int64_t>(at))]);
  }
}

TEST_F(OwnStoresTest, ARegionThatIsWrittenAllTheTimeBecomesVolatileAndThenIsTriedAgain) {
  std::optional<OwnStores> own;
  const uint64_t last_usable = write_until_volatile(own, {2});
  EXPECT_EQ(own->volatile_regions(), 1u);
  EXPECT_FALSE(words.usable(2));
  EXPECT_TRUE(words.usable(3));
  look_until_usable(*own, 2);
  EXPECT_TRUE(words.usable(2));
  EXPECT_GT(words.own[2], last_usable) << "another version than before";
  const VersionWords before = words;
  memory[2 * page] = 99;
  own->look();
  EXPECT_NE(words.own[2], before.own[2]);
}

TEST_F(OwnStoresTest, WhatCallsWriteChangesAtTheNextLook) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  own.look();
  const VersionWords before = words;
  own.will_have_changed(own.regions_of(memory + 7 * page, 1));
  own.look();
  EXPECT_NE(words.own[7], before.own[7]);
  EXPECT_EQ(words.own[8], before.own[8]);
}

TEST_F(OwnStoresTest, WhatIsVolatileForGoodStaysSo) {
  OwnStores own(memory, bytes, regions, &words, &tracker, &watching);
  own.look();
  own.never(uint64_t{1} << 4);
  for (int i = 0; i < 20; ++i) own.look();
  look_until_usable(own, 5);
  EXPECT_TRUE(words.usable(5));
  EXPECT_FALSE(words.usable(4));
  own.never("no more");
  own.look();
  for (uint32_t region = 0; region < VersionWords::regions; ++region)
    EXPECT_FALSE(words.usable(region));
  EXPECT_EQ(own.why_never(), "no more");
}

TEST_F(OwnStoresTest, WhatIsVolatileForAWhileMayBecomeSoForGood) {
  std::optional<OwnStores> own;
  write_until_volatile(own, {2, 3});
  ASSERT_EQ(own->volatile_regions(), 2u);
  own->never(uint64_t{1} << 2);
  look_until_usable(*own, 3);
  EXPECT_TRUE(words.usable(3));
  EXPECT_FALSE(words.usable(2));
}

TEST_F(OwnStoresTest, BuffersAreFoundWhereverTheyBegin) {
  OwnStores own(memory + page, 2 * page, Regions(2 * page), &words, &tracker, &watching);
  EXPECT_EQ(own.regions_of(memory, page), 0u);
  EXPECT_NE(own.regions_of(memory, page + 1), 0u);
  EXPECT_EQ(own.regions_of(memory + 3 * page, 10), 0u);
  EXPECT_NE(own.regions_of(memory + 3 * page - 1, 10), 0u);
  EXPECT_EQ(own.regions_of(nullptr, UINT64_MAX), Regions(2 * page).mask(0, 2 * page)) << "anywhere";
  EXPECT_EQ(own.regions_of(memory + page, 0), 0u);
}

TEST(OwnStoresWithoutTheKernel, AreNeverWatched) {
  std::vector<unsigned char> memory(10 * page);
  VersionWords words{};
  WriteTracker tracker;
  Allowance watching = plenty();
  tracker.use_checksums_only();
  OwnStores own(memory.data(), memory.size(), Regions(memory.size()), &words, &tracker, &watching);
  for (int i = 0; i < 3; ++i) own.look();
  EXPECT_FALSE(words.usable(0));
  EXPECT_NE(own.why_never(), "");
}

TEST(OwnStoresWithoutMemory, HaveNothingThatChanges) {
  VersionWords words{};
  WriteTracker tracker;
  Allowance watching = plenty();
  OwnStores own(nullptr, 0, Regions(1 << 20), &words, &tracker, &watching);
  own.look();
  EXPECT_TRUE(words.usable(0));
  EXPECT_EQ(own.volatile_regions(), 0u);
}

// Without time left, a window is not watched, until there is some again.
TEST_F(OwnStoresTest, BeginningToWatchTakesItsShareOfTheTime) {
  constexpr uint64_t never = uint64_t{1} << 60;
  Allowance once(never, 0, clock_ticks());
  VersionWords other{};
  OwnStores first(memory, 8 * page, Regions(8 * page), &words, &tracker, &once);
  OwnStores second(memory + 8 * page, 8 * page, Regions(8 * page), &other, &tracker, &once);
  first.look();
  EXPECT_TRUE(words.usable(0));
  for (int i = 0; i < 3; ++i) second.look();
  EXPECT_FALSE(other.usable(0));
  EXPECT_EQ(second.why_never(), "");
  once = plenty();
  second.look();
  EXPECT_TRUE(other.usable(0));
}

TEST_F(OwnStoresTest, EndingToWatchTakesItsShareOfTheTime) {
  Allowance once(uint64_t{1} << 60, 0, clock_ticks());
  std::optional<OwnStores> first(std::in_place, memory, bytes, regions, &words, &tracker,
                                 &watching);
  first->look();
  watching = once;
  first.reset();
  EXPECT_FALSE(watching.left(clock_ticks()));
}

// A reader that has seen a version sees another one after any store and look.
TEST_F(OwnStoresTest, RandomStoresAreNeverMissed) {
  std::optional<OwnStores> own;
  std::mt19937_64 random(7);
  std::vector<unsigned char> seen(memory, memory + bytes);
  VersionWords known;
  uint64_t changes = 0;
  for (int round = 0; round < 20000; ++round) {
    // A slow machine looks rarely; whatever it is like, a new owner's first looks take place.
    if (round % 500 == 0) {
      if (own) changes += own->changes();
      own.emplace(memory + 10, bytes - 20, regions, &words, &tracker, &watching);
      known = words;
    }
    for (uint64_t i = random() % 4; i > 0; --i)
      memory[10 + random() % (bytes - 20) % (random() % 4 == 0 ? bytes : 3 * page)] =
          static_cast<unsigned char>(random());
    own->look();
    for (uint32_t region = 0; region < VersionWords::regions; ++region) {
      const bool same =
          words.usable(region) && known.usable(region) && words.own[region] == known.own[region];
      const uint64_t from = std::max<uint64_t>(10, region * page),
                     to = std::min(bytes - 10, (region + 1) * page);
      if (same) {
        ASSERT_EQ(std::memcmp(&memory[from], &seen[from], to - from), 0)
            << "region " << region << ", round " << round;
      } else {
        std::memcpy(&seen[from], &memory[from], to - from);
      }
    }
    known = words;
  }
  EXPECT_GT(changes, 20u);
}

}  // namespace TEST_FILE
}  // namespace nearcache::mpi
