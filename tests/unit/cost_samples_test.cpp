#include "simulate/cost.h"

#include <gtest/gtest.h>

namespace nearcache::simulate {
namespace TEST_FILE {

TEST(CostSamples, TheLeastIsWhatTheQuickestTenthTook) {
  CostSamples quiet, busy;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t bytes = i % 2 == 0 ? 8 : 4096;
    const double ns = 1000 + 0.5 * static_cast<double>(bytes) + i % 7;
    quiet.add(bytes, ns);
    busy.add(bytes, i % 5 < 4 ? 3 * ns : ns);  // another process was running
  }
  EXPECT_NEAR(quiet.mean().latency_ns, 1003, 10);
  EXPECT_NEAR(quiet.least().latency_ns, 1000, 10);
  EXPECT_GT(busy.mean().latency_ns, 2000);
  EXPECT_NEAR(busy.least().latency_ns, 1000, 100);
  EXPECT_NEAR(busy.least().get(4096), 3048, 300);
}

TEST(CostSamples, WithTheSlowestEveryGetCountsInFull) {
  CostSamples quiet, busy;
  double taken = 0;
  for (int i = 0; i < 1000; ++i) {
    const double ns = i % 100 == 50 ? 2000000 : 2000;  // waited for a processor
    quiet.add(64, 2000);
    busy.add(64, ns);
    taken += ns;
  }
  EXPECT_NEAR(quiet.with_slowest().get(64), 2000, 1);
  EXPECT_LT(busy.mean().get(64), 4000);
  EXPECT_NEAR(busy.with_slowest().get(64), taken / 1000, taken / 1e5);
}

TEST(CostSamples, NothingMeasuredIsNothing) {
  EXPECT_EQ(CostSamples().samples(), 0u);
  EXPECT_EQ(CostSamples().least().latency_ns, 0);
  EXPECT_EQ(CostSamples().with_slowest().latency_ns, 0);
}

}  // namespace TEST_FILE
}  // namespace nearcache::simulate
