// When small gets fetch the line around them.
#include "cache/get/lines.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <utility>

namespace nearcache {
namespace {

struct Learner {
  // A miss in a program that keeps every line; `neighbours`: what else of the line is asked for later.
  void miss(int64_t at, int neighbours) {
    lines->missed(1, at, 1);
    const auto length = static_cast<int64_t>(lines->length());
    if (length == 0) return;
    const Key line{at / length * length, 1, 0};
    lines->fetched(line, at, 1);
    for (int i = 0; i < neighbours; ++i) lines->used(line, line.displacement + (at + 8 * (i + 1)) % length, 1);
  }
  std::unique_ptr<Lines> lines = std::make_unique<Lines>();
};

TEST(Lines, GrowWhereNeighboursMissAndEndWhereNoneIsAskedFor) {
  Learner learner;
  for (int64_t i = 0; i < 400; ++i) learner.miss(i * 64, 3);
  EXPECT_EQ(learner.lines->length(), Lines::longest);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) learner.miss(static_cast<int64_t>(random() % (uint64_t{1} << 40)), 0);
  EXPECT_EQ(learner.lines->length(), 0u);
}

TEST(Lines, ARepeatOfTheSameBytesIsNoNeighbour) {
  Learner learner;
  for (int round = 0; round < 20; ++round) {
    for (int64_t i = 0; i < 100; ++i) learner.miss(i * 4096, 0);
  }
  EXPECT_EQ(learner.lines->length(), 0u);
  for (int64_t i = 0; i < 400; ++i) learner.miss(i * 64, 3);
  ASSERT_GT(learner.lines->length(), 0u);
  for (int64_t i = 0; i < 20000; ++i) {
    const Key line{i * 8192, 1, 0};
    learner.lines->fetched(line, line.displacement, 1);
    learner.lines->used(line, line.displacement, 1);  // what it was fetched for
  }
  EXPECT_EQ(learner.lines->length(), 0u);
}

TEST(Lines, NeighboursOfAnotherGenerationAreNone) {
  Lines lines;
  for (uint32_t generation = 0; generation < 2000; ++generation) lines.missed(1, generation % 8 * 8, generation);
  EXPECT_EQ(lines.length(), 0u);
}

TEST(Lines, NeighboursAreFoundAmongManyPlaces) {
  auto lines = std::make_unique<Lines>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 400000 && lines->length() == 0; ++i) lines->missed(1, static_cast<int64_t>(random() % 20000 * 512 + random() % 64 * 8), 1);
  EXPECT_GT(lines->length(), 0u);
}

TEST(Lines, BuffersAreApartAndNotWithoutEnd) {
  LineBuffers buffers;
  std::set<std::byte*> taken;
  while (std::byte* buffer = buffers.take()) ASSERT_TRUE(taken.insert(buffer).second);
  EXPECT_GE(taken.size(), 256u);
  std::byte* before = nullptr;
  for (std::byte* buffer : taken) {
    EXPECT_TRUE(before == nullptr || buffer - before >= static_cast<ptrdiff_t>(LineBuffers::bytes));
    before = buffer;
  }
  buffers.give_back(before);
  EXPECT_EQ(buffers.take(), before);
}

}  // namespace
}  // namespace nearcache
