#include "cache/get/policy/reuse_rates.h"

#include <gtest/gtest.h>

namespace nearcache {
namespace TEST_FILE {

TEST(ReuseRates, MoreHitsInLessTimePromiseMore) {
  const ReuseRates reuse;
  EXPECT_GT(reuse.rate({64, 5, 1000, 10}), reuse.rate({64, 4, 1000, 10}));
  EXPECT_GT(reuse.rate({64, 5, 1000, 10}), reuse.rate({64, 5, 2000, 10}));
  EXPECT_GT(reuse.rate({64, 1, 1000, 10}), 0);
}

// 1,000 keys wait for their second use; those of 4 KiB return ten times as soon.
TEST(ReuseRates, TheRateOfSecondTimesIsLearnedBySize) {
  ReuseRates reuse;
  uint32_t now = 0;
  for (int i = 0; i < 1000; ++i) {
    reuse.first(64, now), reuse.first(4096, now);
    now += 100, reuse.second(4096, now);
    now += 900, reuse.second(64, now);
    reuse.miss(now);
  }
  EXPECT_NEAR(reuse.second_wait(64), 1000, 300);
  EXPECT_NEAR(reuse.second_wait(4096), 100, 30);
  EXPECT_LT(reuse.second_wait(512), reuse.second_wait(64)) << "between them: on the line";
  EXPECT_GT(reuse.second_wait(512), reuse.second_wait(4096));
}

TEST(ReuseRates, KeysOfAScanWaitInVain) {
  ReuseRates reuse;
  const float before = reuse.second_wait(256);
  for (uint32_t now = 0; now < 10000; ++now) reuse.first(256, now), reuse.miss(now);
  EXPECT_GT(reuse.second_wait(256), 20 * before);
}

TEST(ReuseRates, ForgottenKeysWaitNoMore) {
  ReuseRates reuse;
  for (int i = 0; i < 100; ++i) reuse.first(256, 0);
  reuse.forget(10);
  const ReuseRates before = reuse;
  for (int i = 0; i < 64; ++i) reuse.miss(1000000);
  ReuseRates waits = before;
  for (int i = 0; i < 100; ++i) waits.first(256, 10);
  for (int i = 0; i < 64; ++i) waits.miss(1000000);
  EXPECT_LT(20 * reuse.second_wait(256), waits.second_wait(256));
}

TEST(ReuseRates, RestIsHeldAgainstAnEntryWhereHitsFollowHits) {
  ReuseRates reuse;
  const Situation hot{256, 8, 1000, 1}, rested{256, 8, 1000, 900};
  EXPECT_FLOAT_EQ(reuse.rate(hot), reuse.rate(rested)) << "nothing is known yet";
  for (int i = 0; i < 640; ++i) {
    reuse.hit(hot, 1);
    reuse.exposed(hot, 10), reuse.exposed(rested, 100);
    reuse.miss(0);
  }
  EXPECT_GT(reuse.rate(hot), 5 * reuse.rate(rested));
}

TEST(ReuseRates, RestIsNeverHeldInItsFavour) {
  ReuseRates reuse;
  const Situation hot{256, 8, 1000, 1}, rested{256, 8, 1000, 110};
  for (int i = 0; i < 640; ++i) {
    reuse.hit(rested, 1);
    reuse.exposed(hot, 100), reuse.exposed(rested, 10);
    reuse.miss(0);
  }
  EXPECT_FLOAT_EQ(reuse.rate(hot), reuse.rate(rested));
}

TEST(ReuseRates, FollowsAProgramThatChanges) {
  ReuseRates reuse;
  uint32_t now = 0;
  for (int i = 0; i < 100000; ++i)
    reuse.first(64, now), now += 10, reuse.second(64, now), reuse.miss(now);
  EXPECT_NEAR(reuse.second_wait(64), 10, 2);
  for (int i = 0; i < 10000; ++i)
    reuse.first(64, now), now += 10000, reuse.second(64, now), reuse.miss(now);
  EXPECT_GT(reuse.second_wait(64), 5000);
}

TEST(ReuseRates, AnySizeHasARate) {
  const ReuseRates reuse;
  for (const uint64_t bytes :
       {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{UINT32_MAX}, uint64_t{1} << 40})
    EXPECT_GT(reuse.rate({bytes, 0, 0, 0}), 0) << bytes;
}

}  // namespace TEST_FILE
}  // namespace nearcache
