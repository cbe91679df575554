#include "telemetry/gather_plan.h"

#include <gtest/gtest.h>

#include <climits>

namespace nearcache {
namespace TEST_FILE {

TEST(GatherPlan, counts_fit_an_int_however_many_ranks_and_windows_there_are) {
  for (const uint64_t ranks : {1, 2, 5500, 100000}) {
    for (const uint64_t longest : {0, 1, 1000, 1000000}) {
      const GatherPlan plan = GatherPlan::of(longest, 400, ranks);
      EXPECT_GE(plan.items * plan.rounds, longest);
      EXPECT_LE(plan.items * 400, uint64_t{16} << 20) << "what one rank sends in a round";
      EXPECT_LE(plan.items * 400 * ranks, std::max<uint64_t>(16 << 20, 400 * ranks))
          << "what the root has room for";
    }
  }
}

TEST(GatherPlan, what_is_short_comes_in_one_round) {
  EXPECT_EQ(GatherPlan::of(10, 400, 128).rounds, 1u);
  EXPECT_EQ(GatherPlan::of(0, 400, 128).rounds, 0u);
}

}  // namespace TEST_FILE
}  // namespace nearcache
