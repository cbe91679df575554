#include "cache/get/cost_model.h"

#include <gtest/gtest.h>

#include <random>

namespace nearcache {
namespace TEST_FILE {

TEST(CostModel, SizeClassesArePowersOfTwo) {
  EXPECT_EQ(CostModel::class_of(0), 0);
  EXPECT_EQ(CostModel::class_of(1), 0);
  EXPECT_EQ(CostModel::class_of(2), 1);
  EXPECT_EQ(CostModel::class_of(3), 2);
  EXPECT_EQ(CostModel::class_of(4), 2);
  EXPECT_EQ(CostModel::class_of(5), 3);
  EXPECT_EQ(CostModel::class_of(UINT64_MAX), CostModel::size_classes - 1);
}

TEST(CostModel, KnowsNothingAtFirst) {
  CostModel model;
  EXPECT_EQ(model.samples(), 0u);
  EXPECT_EQ(model.cost_ns(1000), 0);
}

TEST(CostModel, FindsLatencyAndTimePerByte) {
  CostModel model;
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bytes = uint64_t{1} << random() % 17;
    model.sample(bytes, 1900 + 0.17 * static_cast<double>(bytes));
  }
  EXPECT_NEAR(model.latency_ns(), 1900, 20);
  EXPECT_NEAR(model.ns_per_byte(), 0.17, 0.01);
}

TEST(CostModel, OneSizeGivesItsCostAndNothingNegative) {
  CostModel model;
  for (int i = 0; i < 100; ++i) model.sample(512, 2500);
  EXPECT_NEAR(model.cost_ns(512), 2500, 1);
  EXPECT_GE(model.latency_ns(), 0);
  EXPECT_GE(model.ns_per_byte(), 0);
}

TEST(CostModel, LargerGetsThatCostLessGiveNoNegativeTimePerByte) {
  CostModel model;
  for (int i = 0; i < 100; ++i) model.sample(8, 5000), model.sample(4096, 1000);
  EXPECT_GE(model.ns_per_byte(), 0);
  EXPECT_GT(model.cost_ns(1 << 20), 0);
}

TEST(CostModel, APreemptedSampleDoesNotTakeOver) {
  CostModel model;
  for (int i = 0; i < 50; ++i) model.sample(64, 2000);
  model.sample(64, 10e6);
  EXPECT_LT(model.observed_ns(64), 2500);
}

// In a program whose gets are nearly all hits, only the first few are measured, and these find the
// network cold.
TEST(CostModel, OfFewSamplesTheQuickestIsBelievedWhereCareIsWanted) {
  CostModel model;
  EXPECT_EQ(model.careful().cost_ns(8), 0);
  for (const double ns : {90000.0, 12000.0, 700.0, 9000.0}) model.sample(8, ns);
  EXPECT_GT(model.cost_ns(8), 3000);
  EXPECT_FLOAT_EQ(static_cast<float>(model.careful().cost_ns(8)), 700);
  for (int i = 0; i < 100; ++i) model.sample(8, 2000);
  EXPECT_NEAR(model.careful().cost_ns(8), 2000, 100);
}

TEST(CostModel, TimeThatOtherProgramsTakeIsNotBelievedWhereCareIsWanted) {
  CostModel model;
  model.sample(8, 700);
  for (int i = 0; i < 200; ++i) model.sample(8, i % 2 == 0 ? 3e6 : 800);
  EXPECT_GT(model.cost_ns(8), 5600);
  EXPECT_NEAR(model.careful().cost_ns(8), 8 * 700, 1);
}

TEST(CostModel, SizesThatWereSeenAnswerForThemselves) {
  CostModel model;
  for (int i = 0; i < 50; ++i)
    model.sample(64, 2000), model.sample(65536, 9000), model.sample(1024, 7000);
  EXPECT_NEAR(model.observed_ns(1024), 7000, 10);
  EXPECT_EQ(model.samples_of(1000), 50u);
  EXPECT_EQ(model.observed_ns(300), model.cost_ns(300));
}

}  // namespace TEST_FILE
}  // namespace nearcache
