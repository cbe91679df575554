#include "cache/worth.h"

#include <gtest/gtest.h>

namespace nearcache {
namespace {

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
  for (int i = 0; i < 500; ++i) worth.stored(65536, false), worth.first_hit(65536, false);
  EXPECT_TRUE(worth.worth_storing(65536, false, 10000, 6000));
}

}  // namespace
}  // namespace nearcache
