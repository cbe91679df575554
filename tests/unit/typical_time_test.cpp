// The cost of a transfer, from times of which some are waits for a late PE.
#include "shmem/typical_time.h"

#include <gtest/gtest.h>

namespace nearcache::shmem {
namespace TEST_FILE {

TEST(TypicalTime, OfNothingIsNothing) { EXPECT_EQ(TypicalTime().ns(), 0u); }

TEST(TypicalTime, OfOneIsThatOne) {
  for (const uint64_t ns : {0u, 1u, 3u, 4u, 7u, 8u, 1000u, 7000u, 123456789u}) {
    TypicalTime time;
    time.add(ns);
    EXPECT_NEAR(static_cast<double>(time.ns()), static_cast<double>(ns),
                static_cast<double>(ns) / 8 + 1);
  }
}

TEST(TypicalTime, IsWhatMostTakeAndNotTheQuickest) {
  TypicalTime time;
  time.add(5000);
  for (int i = 0; i < 100; ++i) time.add(200000);
  EXPECT_GT(time.ns(), 150000u) << "estimates from the quickest were 20 to 40 times too low";
}

TEST(TypicalTime, AWaitForALatePeIsNoPrice) {
  TypicalTime time;
  for (int i = 0; i < 50; ++i) time.add(7000);
  time.add(2000000000);
  EXPECT_LT(time.ns(), 8000u);
  TypicalTime few;
  few.add(7000);
  few.add(2000000000);
  EXPECT_LT(few.ns(), 8000u);
}

TEST(TypicalTime, TheLongestTimesAreCountedAsLong) {
  TypicalTime time;
  time.add(UINT64_MAX);
  EXPECT_GT(time.ns(), uint64_t{1} << 45);
}

}  // namespace TEST_FILE
}  // namespace nearcache::shmem
