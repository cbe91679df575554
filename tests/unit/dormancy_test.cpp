#include "mpi/window/dormancy.h"

#include <gtest/gtest.h>

namespace nearcache::mpi {
namespace TEST_FILE {

// A program whose gets come to the dormancy one by one.
struct Program {
  Dormancy dormancy;
  uint64_t hits = 0, quick = 0;

  // Returns how many of the next `gets` gets are looked up, if each one that is becomes a hit of
  // those that come here, or if none does.
  int looked_up(int gets, uint32_t wanted, bool become_hits) {
    int looked = 0;
    for (int i = 0; i < gets; ++i) {
      if (dormancy.passes(hits, quick, wanted)) continue;
      ++looked;
      hits += become_hits ? 1 : 0;
    }
    return looked;
  }
  void quick_hits(uint64_t count) { hits += count, quick += count; }
};

TEST(Dormancy, WhatNeverRepeatsIsSeldomLookedUp) {
  EXPECT_EQ(Program().looked_up(1024 + 4097, 0, false), 1024);
  EXPECT_EQ(Program().looked_up(1024 + 10 * (4097 + 64), 0, false), 1024 + 10 * 64);
  EXPECT_EQ(Program().looked_up(128 + 10 * (4097 + 64), 15, false), 128 + 10 * 64);
  EXPECT_EQ(Program().looked_up(1024 + 4097 + 512 + 8193 + 512 + 16385, 2, false),
            1024 + 512 + 512);
  EXPECT_LT(Program().looked_up(10000000, 2, false), 80000);
}

TEST(Dormancy, HitsThatAreNotTheQuickestAreHits) {
  for (const uint32_t wanted : {0u, 1u, 4u, 15u})
    EXPECT_EQ(Program().looked_up(100000, wanted, true), 100000) << wanted;
}

TEST(Dormancy, WhereGetsAreDearAFewHitsAreEnough) {
  Program program;
  EXPECT_EQ(program.looked_up(1024, 0, false), 1024);
  program.quick_hits(16);
  EXPECT_EQ(program.looked_up(1000, 0, false), 1000);
}

TEST(Dormancy, WhereGetsAreCheapHitsMustComeOnEachMiss) {
  for (const uint32_t wanted : {2u, 15u}) {
    Program enough, too_few;
    const int span = wanted == 2 ? 1024 : 128;
    for (Program* program : {&enough, &too_few})
      EXPECT_EQ(program->looked_up(span, wanted, false), span);
    enough.quick_hits(wanted * static_cast<uint64_t>(span));
    too_few.quick_hits(wanted * static_cast<uint64_t>(span) - 1);
    EXPECT_FALSE(enough.dormancy.passes(enough.hits, enough.quick, wanted)) << wanted;
    EXPECT_TRUE(too_few.dormancy.passes(too_few.hits, too_few.quick, wanted)) << wanted;
  }
}

TEST(Dormancy, WakesWhenGetsRepeat) {
  Program program;
  program.looked_up(128 + 1, 15, false);
  EXPECT_TRUE(program.dormancy.asleep());
  program.dormancy.passed(4096);  // during a pause of the window
  EXPECT_FALSE(program.dormancy.asleep());
  EXPECT_EQ(program.looked_up(1000, 15, true), 1000);
}

TEST(Dormancy, TheDearerAGetTheFewerHitsMustComeOnAMiss) {
  EXPECT_EQ(Dormancy::hits_on_a_miss(20), 15u);
  EXPECT_EQ(Dormancy::hits_on_a_miss(85), 15u);
  EXPECT_EQ(Dormancy::hits_on_a_miss(135), 7u);
  EXPECT_EQ(Dormancy::hits_on_a_miss(285), 3u);
  EXPECT_EQ(Dormancy::hits_on_a_miss(900), 1u);
}

}  // namespace TEST_FILE
}  // namespace nearcache::mpi
