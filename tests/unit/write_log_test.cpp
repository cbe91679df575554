#include "cache/get/write_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace nearcache {
namespace TEST_FILE {

std::unique_ptr<WriteLog> empty_log() {
  auto log = std::make_unique<WriteLog>();
  log->clear();
  return log;
}

TEST(WriteLog, KnowsTheBytesThatWereWritten) {
  auto log = empty_log();
  EXPECT_FALSE(log->overwritten(1, 0, 100, 0));
  ASSERT_TRUE(log->record(1, 50, 60));
  EXPECT_EQ(log->now(), 1u);
  EXPECT_TRUE(log->overwritten(1, 59, 100, 0));
  EXPECT_TRUE(log->overwritten(1, 0, 51, 0));
  EXPECT_FALSE(log->overwritten(1, 60, 100, 0));
  EXPECT_FALSE(log->overwritten(1, 0, 50, 0));
  EXPECT_FALSE(log->overwritten(2, 50, 60, 0));
  EXPECT_FALSE(log->overwritten(1, 50, 60, 1))
      << "what was read after the write is not overwritten";
}

TEST(WriteLog, LongWritesAndNegativeDisplacementsCount) {
  auto log = empty_log();
  log->record(1, -100, 1 << 20);
  EXPECT_TRUE(log->overwritten(1, -101, -99, 0));
  EXPECT_TRUE(log->overwritten(1, 500000, 500001, 0));
  EXPECT_FALSE(log->overwritten(1, (1 << 20), (1 << 20) + 1, 0));
  log->record(3, -700, -650);
  EXPECT_TRUE(log->overwritten(3, -651, 10, 1));
}

TEST(WriteLog, RangesOfUnknownExtentAreTheWholeTarget) {
  auto log = empty_log();
  log->record(4, INT64_MIN, INT64_MAX);
  EXPECT_TRUE(log->overwritten(4, 0, 1, 0));
  log->record(5, 10, 20);
  EXPECT_TRUE(log->overwritten(5, INT64_MIN, INT64_MAX, 1));
  EXPECT_FALSE(log->overwritten(6, INT64_MIN, INT64_MAX, 1));
}

TEST(WriteLog, AnEmptyWriteTouchesNothing) {
  auto log = empty_log();
  EXPECT_TRUE(log->record(1, 10, 10));
  EXPECT_TRUE(log->record(1, INT64_MIN, INT64_MIN));
  EXPECT_FALSE(log->overwritten(1, 0, 100, 0));
}

// A false "yes" costs a get; a false "no" would serve a stale value.
TEST(WriteLog, NeverSaysNoWronglyInARandomRun) {
  std::mt19937 random(3);
  struct Write {
    uint32_t target;
    int64_t from, to;
  };
  for (int run = 0; run < 20; ++run) {
    auto log = empty_log();
    std::vector<Write> writes{{}};
    uint64_t yes = 0, needless = 0;
    for (int step = 0; step < 4000; ++step) {
      const uint32_t target = random() % 4 * 1024 + random() % 3;  // some share a filter slot
      const int64_t from = static_cast<int64_t>(random() % 40000) - 5000;
      const int64_t to = from + 1 + (random() % 20 == 0 ? random() % 40000 : random() % 200);
      if (random() % 4 == 0) {
        ASSERT_TRUE(log->record(target, from, to));
        writes.push_back({target, from, to});
        continue;
      }
      const auto now = static_cast<uint32_t>(writes.size() - 1);
      const uint32_t since = now - std::min<uint32_t>(now, random() % 100);
      bool truth = false;
      for (uint32_t n = since + 1; n <= now; ++n)
        truth = truth || (writes[n].target == target && writes[n].from < to && from < writes[n].to);
      const bool said = log->overwritten(target, from, to, since);
      ASSERT_TRUE(said || !truth) << "step " << step;
      ASSERT_TRUE(said == truth || now - since > 64)
          << "within the memory of the log the answer is exact";
      yes += said;
      needless += said && !truth;
    }
    EXPECT_LE(needless, yes);
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache
