#include "cache/get/policy/sketch.h"

#include <gtest/gtest.h>

#include "cache/get/entry.h"

namespace nearcache {
namespace TEST_FILE {

struct Memory {
  explicit Memory(uint64_t capacity, uint64_t most = 0) {
    EXPECT_TRUE(region.reserve(Sketch::bytes_for(std::max(capacity, most)) + 64));
    sketch.attach(region.base(), capacity);
  }
  Region region;
  Sketch sketch;
};

uint64_t hash_of(int64_t i) { return hash_key({i * 512, 1, 0}); }

TEST(Sketch, NeverCountsLessThanWasAdded) {
  Memory memory(1000);
  for (int64_t i = 0; i < 500; ++i) memory.sketch.add(hash_of(i), static_cast<uint32_t>(i % 9));
  for (int64_t i = 0; i < 500; ++i)
    EXPECT_GE(memory.sketch.count(hash_of(i)), static_cast<uint32_t>(i % 9));
}

TEST(Sketch, IsMostlyExactWithAnEntryForEveryKey) {
  Memory memory(1000);
  for (int64_t i = 0; i < 500; ++i) memory.sketch.add(hash_of(i), 3);
  int unseen_but_counted = 0;
  for (int64_t i = 1000; i < 2000; ++i) unseen_but_counted += memory.sketch.count(hash_of(i)) > 0;
  EXPECT_LT(unseen_but_counted, 150);
}

TEST(Sketch, CountsStopAtTheirLargestValue) {
  Memory memory(16);
  for (int i = 0; i < 10; ++i) memory.sketch.add(hash_of(1), 100);
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 255u);
  memory.sketch.raise(hash_of(1), 70000);
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 255u);
}

TEST(Sketch, ThePastFadesWithEveryPeriod) {
  Memory memory(100);
  memory.sketch.add(hash_of(1), 100);
  const uint64_t period = memory.sketch.period();
  memory.sketch.advance(period - 1);
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 100u);
  EXPECT_EQ(memory.sketch.memory_span(), period - 1);
  memory.sketch.advance(period);
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 50u);
  EXPECT_EQ(memory.sketch.memory_span(), period / 2);
  memory.sketch.advance(3 * period + 5);  // two periods of hits only
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 12u);
  memory.sketch.advance(1000 * period);
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 0u);
}

TEST(Sketch, CountsSurviveAnotherCapacity) {
  Memory memory(1000, 5000);
  for (int64_t i = 0; i < 300; ++i) memory.sketch.add(hash_of(i), 1 + static_cast<uint32_t>(i % 9));
  for (const uint64_t capacity : {2001u, 5000u, 4999u, 700u, 333u, 1000u}) {
    memory.sketch.resize(capacity);
    EXPECT_EQ(memory.sketch.bytes(), Sketch::bytes_for(capacity));
    for (int64_t i = 0; i < 300; ++i)
      ASSERT_GE(memory.sketch.count(hash_of(i)), 1 + static_cast<uint32_t>(i % 9)) << capacity;
  }
}

TEST(Sketch, DoublingKeepsCountsOfOthersApart) {
  Memory memory(1600, 3200);
  for (int64_t i = 0; i < 300; ++i) memory.sketch.add(hash_of(i), 5);
  memory.sketch.resize(3200);
  int wrong = 0;
  for (int64_t i = 1000; i < 2000; ++i) wrong += memory.sketch.count(hash_of(i)) > 0;
  EXPECT_LT(wrong, 100);
}

TEST(Sketch, ClearForgets) {
  Memory memory(100);
  memory.sketch.add(hash_of(1), 100);
  memory.sketch.clear();
  EXPECT_EQ(memory.sketch.count(hash_of(1)), 0u);
  EXPECT_EQ(memory.sketch.memory_span(), 0u);
}

}  // namespace TEST_FILE
}  // namespace nearcache
