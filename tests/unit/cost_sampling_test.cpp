#include "mpi/window/cost_sampling.h"

#include <gtest/gtest.h>

#include "mpi/window/sample_clock.h"

namespace nearcache::mpi {
namespace TEST_FILE {

constexpr int target = 1;
constexpr uint64_t bytes = 8;

// Returns how many misses were measured in epochs of `gets` misses each.
int measured(int epochs, int gets) {
  CostSampling sampling;
  uint32_t samples = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (int i = 0; i < gets; ++i) {
      if (sampling.miss_is_due(target, i == 0)) {
        sampling.issued(target, bytes, 1);
      } else {
        sampling.joined(target, bytes);
      }
    }
    const CostSampling::Result result =
        sampling.sync_ends(sampling.sync_begins(Targets::one(target)));
    if (result.target == target) samples += result.samples;
  }
  return static_cast<int>(samples);
}

TEST(CostSampling, AnyNumberOfGetsBetweenSynchronisationsIsMeasured) {
  for (const int gets : {1, 2, 31, 32, 33, 64, 96, 128, 1000})
    EXPECT_GE(measured(200, gets), 16) << gets;
}

TEST(CostSampling, LaterFewAreMeasured) {
  const int first = measured(1000, 1);
  EXPECT_LE(measured(33000, 1) - first, 1001);
  EXPECT_EQ(measured(4, 64), 16) << "four of an epoch";
  EXPECT_LE(measured(1000, 64), 64 + 1000);
}

TEST(CostSampling, GetsThatOthersCompleteShareTheWaitButNotTheIssue) {
  CostSampling sampling;
  ASSERT_TRUE(sampling.request_miss_is_due());
  const uint64_t number = sampling.request_issued(target, bytes, 1000);
  for (int i = 0; i < 3; ++i) sampling.request_joined(target, bytes);
  EXPECT_LT(sampling.request_waited(number, 3000, false).target, 0);
  const CostSampling::Result result = sampling.request_waited(number, 5000, true);
  EXPECT_EQ(result.target, target);
  EXPECT_EQ(result.bytes, bytes);
  EXPECT_DOUBLE_EQ(result.ns, sample_ns(1000) + sample_ns(8000) / 4);
  EXPECT_LT(sample_ns(8000), ticks_to_ns(8000)) << "reading the clock takes time itself";
  EXPECT_EQ(sample_ns(1, 1000), 0);
}

TEST(CostSampling, OneMeasurementAtATime) {
  CostSampling sampling;
  ASSERT_TRUE(sampling.miss_is_due(target, true));
  sampling.issued(target, bytes, 1000);
  EXPECT_FALSE(sampling.miss_is_due(target + 1, true));
  sampling.issued(target + 1, bytes, 1000);  // of another thread
  EXPECT_EQ(sampling.sync_begins(Targets::one(target + 1)), 0u);
  EXPECT_TRUE(sampling.idle());
  EXPECT_TRUE(sampling.miss_is_due(target + 1, true));
}

TEST(CostSampling, SizesAreJudgedAfterSixteenSamples) {
  CostSampling sampling;
  for (int i = 0; i < 16; ++i) {
    EXPECT_FALSE(sampling.cheap(false, bytes));
    sampling.learn({bytes, 40, target}, false, true);
  }
  EXPECT_TRUE(sampling.cheap(false, bytes));
  EXPECT_TRUE(sampling.cheap(false, 1));
  EXPECT_FALSE(sampling.cheap(false, 4096));
  EXPECT_FALSE(sampling.cheap(true, bytes));
  for (int i = 0; i < 200; ++i) sampling.learn({bytes, 5000, target}, false, true);
  EXPECT_FALSE(sampling.cheap(false, bytes));
}

// Code and memory are cold at first.
TEST(CostSampling, TheFirstGetsDoNotMakeASizeDear) {
  CostSampling sampling;
  for (int i = 0; i < 16; ++i) {
    EXPECT_FALSE(sampling.cheap(false, bytes));
    sampling.learn({bytes, i < 4 ? 9000.0 : 40.0, target}, false, true);
  }
  EXPECT_TRUE(sampling.cheap(false, bytes));
  for (int i = 0; i < 100; ++i) {
    sampling.learn({bytes, i % 3 == 0 ? 9000.0 : 40.0, target}, false, true);
    EXPECT_TRUE(sampling.cheap(false, bytes)) << "as when others take the processor";
  }
}

TEST(CostSampling, ASeriesAsQuickAsHitsIsCheap) {
  CostSampling sampling;
  EXPECT_FALSE(sampling.learn_most(20, false, bytes)) << "perhaps they had no target";
  for (int i = 0; i < 16; ++i) sampling.learn({bytes, 150, target}, false, true);
  EXPECT_FALSE(sampling.learn_most(20, false, bytes)) << "no get has been as quick";
  sampling.learn({bytes, 60, target}, false, true);
  EXPECT_FALSE(sampling.learn_most(50, false, bytes)) << "those of MPICH 5 within a node";
  EXPECT_FALSE(sampling.cheap(false, bytes));
  EXPECT_TRUE(sampling.learn_most(30, false, bytes));
  EXPECT_TRUE(sampling.cheap(false, bytes));
  EXPECT_TRUE(sampling.cheap(false, 1));
  EXPECT_FALSE(sampling.cheap(false, 2 * bytes));
  EXPECT_FALSE(sampling.cheap(true, bytes));
  for (int i = 0; i < 8; ++i) sampling.learn({bytes, 150, target}, false, true);
  EXPECT_TRUE(sampling.cheap(false, bytes));
  for (int i = 0; i < 200; ++i) sampling.learn({bytes, 5000, target}, false, true);
  EXPECT_FALSE(sampling.cheap(false, bytes));
}

TEST(CostSampling, ASeriesOutweighsSingleGetsThatSeemDear) {
  CostSampling sampling;
  for (int i = 0; i < 16; ++i) sampling.learn({bytes, 40, target}, false, true);
  ASSERT_TRUE(sampling.cheap(false, bytes));
  for (int i = 0; i < 200; ++i) {
    sampling.learn({bytes, 900, target}, false, true);
    EXPECT_FALSE(sampling.learn_most(120, false, bytes)) << "it has been cheap";
    ASSERT_TRUE(sampling.cheap(false, bytes)) << i;
  }
  for (int i = 0; i < 200; ++i) {
    sampling.learn({bytes, 900, target}, false, true);
    sampling.learn_most(1000, false, bytes);
  }
  EXPECT_FALSE(sampling.cheap(false, bytes));
}

// Code that has not run for a long time is slow.
TEST(CostSampling, TheFirstGetsAfterAPauseAreNotMeasured) {
  constexpr uint32_t every = 1 << 16;
  CostSampling sampling;
  for (int pause = 0; pause < 3; ++pause) {
    sampling.passed(every);
    int get = 1;
    while (get < 64 && !sampling.passed_is_due(every, false)) ++get;
    EXPECT_EQ(get, 32);
  }
  for (uint32_t get = 1; get < every; ++get) {
    sampling.passed(0);
    ASSERT_FALSE(sampling.passed_is_due(every, false));
  }
  sampling.passed(0);
  EXPECT_TRUE(sampling.passed_is_due(every, false)) << "pauses without gets put nothing off";
}

// Issued in 1000 ticks, and completed in `ticks` and those that this takes.
CostSampling::Result completed_in(uint64_t ticks, bool ends_epoch) {
  CostSampling sampling;
  EXPECT_TRUE(sampling.miss_is_due(target, true));
  sampling.issued(target, bytes, 1000);
  return sampling.sync_ends(sampling.sync_begins(Targets::one(target)) - ticks, ends_epoch);
}

// An epoch is ended whether or not its gets have been served.
TEST(CostSampling, AQuickEndOfAnEpochIsNotTheGets) {
  const double issue = sample_ns(1000);
  CostSampling::Result result = completed_in(0, true);
  // others may have had the processor meanwhile
  for (int turn = 0; turn < 100 && result.ns > issue; ++turn) result = completed_in(0, true);
  EXPECT_DOUBLE_EQ(result.ns, issue);
  EXPECT_EQ(result.target, target);
  const uint64_t ticks = 1 << 20;
  for (const bool ends_epoch : {false, true}) {
    result = completed_in(ticks, ends_epoch);
    EXPECT_GE(result.ns, issue + sample_ns(ticks)) << "it waits for them";
    EXPECT_DOUBLE_EQ(result.others_ns, 0);
  }
}

TEST(CostSampling, LocksThatCostLittleAreNotDeferred) {
  CostSampling sampling;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(sampling.locks_cost_little(false));
    sampling.learn({bytes, i == 0 ? 900.0 : 90.0, target}, false, true);
  }
  EXPECT_TRUE(sampling.locks_cost_little(false));
  EXPECT_FALSE(sampling.locks_cost_little(true));
  for (int i = 0; i < 16; ++i) sampling.learn({bytes, 2300, target}, false, true);
  EXPECT_FALSE(sampling.locks_cost_little(false)) << "those of MPICH within a node";
}

TEST(CostSampling, LocksOfManyGetsTakeTheWholeSynchronisation) {
  CostSampling sampling;
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(sampling.request_miss_is_due());
    const uint64_t number = sampling.request_issued(target, bytes, 0);
    for (int k = 1; k < 64; ++k) sampling.request_joined(target, bytes);
    const uint64_t round_trip = 1 << 20;
    const CostSampling::Result result = sampling.request_waited(number, round_trip, true);
    EXPECT_DOUBLE_EQ(result.ns + result.others_ns, sample_ns(round_trip));
    EXPECT_DOUBLE_EQ(result.ns, sample_ns(round_trip) / 64);
    sampling.learn({bytes, 100, target, 1, result.others_ns}, true, true);
    EXPECT_FALSE(sampling.locks_cost_little(true));
  }
}

// 64 KiB from the memory of the node take a tenth of the time at which they are worth nothing.
TEST(CostSampling, WhatIsClearIsJudgedAfterFour) {
  CostSampling sampling;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(sampling.cheap(false, 65536));
    sampling.learn({65536, 1100, target}, false, true);
  }
  EXPECT_TRUE(sampling.cheap(false, 65536));
  for (int i = 0; i < 4; ++i) sampling.learn({1 << 20, 100000, target}, false, true);
  EXPECT_FALSE(sampling.cheap(false, 1 << 20)) << "not so clear";
}

}  // namespace TEST_FILE
}  // namespace nearcache::mpi
