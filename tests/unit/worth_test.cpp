#include "cache/worth.h"

#include <gtest/gtest.h>

namespace nearcache {
namespace {

TEST(Worth, TheRateOfFirstHitsIsLearnedPerSize) {
  Worth worth;
  const double before = worth.first_hit_rate(64);
  for (int i = 0; i < 500; ++i) worth.first_hit(64, false, 10);
  for (int i = 0; i < 500; ++i) worth.never_hit(4096, 20000);
  EXPECT_GT(worth.first_hit_rate(64), 10 * before);
  EXPECT_LT(worth.first_hit_rate(4096), before);
  EXPECT_EQ(worth.first_hit_rate(1 << 20), before);
}

TEST(Worth, TheRateFollowsAProgramThatChanges) {
  Worth worth;
  for (int i = 0; i < 100000; ++i) worth.first_hit(64, false, 10);
  for (int i = 0; i < 10000; ++i) worth.never_hit(64, 1000000);
  EXPECT_LT(worth.first_hit_rate(64), 1e-4);
}

TEST(Worth, StoresUntilItKnowsBetter) {
  Worth worth;
  EXPECT_TRUE(worth.worth_storing(64, false, 2000, 20));
}

TEST(Worth, WhatIsNeverHitAndDearToCopyIsNotStored) {
  Worth worth;
  for (int i = 0; i < 500; ++i) worth.stored(65536, false);
  int stored = 0;
  for (int i = 0; i < 160; ++i) stored += worth.worth_storing(65536, false, 10000, 6000);
  EXPECT_EQ(stored, 10) << "one in sixteen, to go on learning";
  EXPECT_TRUE(worth.worth_storing(65536, true, 10000, 4000)) << "keys that return are judged apart";
}

TEST(Worth, WhatIsHitIsStoredAgain) {
  Worth worth;
  for (int i = 0; i < 500; ++i) worth.stored(65536, false);
  for (int i = 0; i < 500; ++i) worth.stored(65536, false), worth.first_hit(65536, false, 100);
  EXPECT_TRUE(worth.worth_storing(65536, false, 10000, 6000));
}

}  // namespace
}  // namespace nearcache
