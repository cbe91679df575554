// When small gets fetch the line around them.
#include "cache/get/lines.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "cache/get/streams.h"

namespace nearcache {
namespace TEST_FILE {

struct Learner {
  // A miss in a program that keeps every line; `neighbours` is how many other words of the line are
  // requested later.
  void miss(int64_t at, int neighbours) {
    lines->missed(1, at, 1);
    const auto length = static_cast<int64_t>(lines->length());
    if (length == 0) return;
    const Key line{at / length * length, 1, 0};
    lines->fetched(line, at, 1);
    for (int i = 0; i < neighbours; ++i)
      lines->used(line, line.displacement + (at + 8 * (i + 1)) % length, 1);
  }
  std::unique_ptr<Lines> lines = std::make_unique<Lines>();
};

TEST(Lines, GrowWhereNeighboursMissAndEndWhereNoneIsAskedFor) {
  Learner learner;
  for (int64_t i = 0; i < 400; ++i) learner.miss(i * 64, 3);
  EXPECT_EQ(learner.lines->length(), Lines::longest);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i)
    learner.miss(static_cast<int64_t>(random() % (uint64_t{1} << 40)), 0);
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
    learner.lines->used(line, line.displacement, 1);  // the get that the line was fetched for
  }
  EXPECT_EQ(learner.lines->length(), 0u);
}

// Every line is requested for four of its words, one after the other or in turn with others.
void request_words(Lines& lines, bool kept, bool one_after_the_other) {
  constexpr int64_t count = 400;
  for (int64_t i = 0; i < 4 * count; ++i) {
    const int64_t which = one_after_the_other ? i / 4 : i % count;
    const int64_t word = one_after_the_other ? i % 4 : i / count;
    const Key line{which * 512, 1, 0};
    if (kept && word > 0) {
      lines.used(line, line.displacement + 8 * word, 1);
    } else {
      lines.fetched(line, line.displacement + 8 * word, 1);
    }
  }
}

TEST(Lines, AreDueWhereNeighboursAreRequestedSoonThoughNoLineIsKept) {
  for (const bool kept : {true, false}) {
    auto lines = std::make_unique<Lines>();
    EXPECT_FALSE(lines->due());
    request_words(*lines, kept, true);
    EXPECT_TRUE(lines->due()) << kept;
  }
}

TEST(Lines, AreNotDueWhereNeighboursAreRequestedMuchLater) {
  for (const bool kept : {true, false}) {
    auto lines = std::make_unique<Lines>();
    request_words(*lines, kept, true);
    request_words(*lines, kept, false);
    EXPECT_FALSE(lines->due()) << kept;
  }
}

TEST(Lines, SayWhenNothingMoreIsToBeLearnedOfOne) {
  Lines lines;
  const Key line{8192, 1, 0};
  lines.fetched(line, line.displacement + 8, 1);
  EXPECT_FALSE(lines.used(line, line.displacement + 8, 1))
      << "by what it was fetched for; a neighbour may come";
  EXPECT_TRUE(lines.used(line, line.displacement + 16, 1));
  EXPECT_TRUE(lines.used(line, line.displacement + 8, 1));
  EXPECT_TRUE(lines.used({16384, 1, 0}, 16384, 1)) << "not in the sample";
}

TEST(Lines, NeighboursOfAnotherGenerationAreNone) {
  Lines lines;
  for (uint32_t generation = 0; generation < 2000; ++generation)
    lines.missed(1, generation % 8 * 8, generation);
  EXPECT_EQ(lines.length(), 0u);
}

TEST(Lines, NeighboursAreFoundAmongManyPlaces) {
  auto lines = std::make_unique<Lines>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 400000 && lines->length() == 0; ++i)
    lines->missed(1, static_cast<int64_t>(random() % 20000 * 512 + random() % 64 * 8), 1);
  EXPECT_GT(lines->length(), 0u);
}

TEST(Lines, BuffersAreApartAndNotWithoutEnd) {
  for (const uint64_t bytes : {Lines::longest, Streams::longest_line}) {
    LineBuffers buffers;
    std::set<std::byte*> taken;
    while (std::byte* buffer = buffers.take(bytes)) ASSERT_TRUE(taken.insert(buffer).second);
    EXPECT_GE(taken.size(), 64u);
    std::byte* before = nullptr;
    for (std::byte* buffer : taken) {
      EXPECT_TRUE(before == nullptr || buffer - before >= static_cast<ptrdiff_t>(bytes));
      before = buffer;
    }
    buffers.give_back(before, bytes);
    EXPECT_EQ(buffers.take(bytes), before);
    EXPECT_EQ(buffers.take(Streams::longest_line + Lines::most_get + 1), nullptr);
  }
}

TEST(Streams, LinesThatFollowEachOtherBecomeLonger) {
  Streams streams;
  EXPECT_EQ(streams.line(1, 0, 512), 512);
  EXPECT_EQ(streams.line(2, 512, 1024), 1024) << "of another target";
  EXPECT_EQ(streams.line(1, 512, 1024), 512 + 1024);
  EXPECT_EQ(streams.line(1, 512 + 1024 - 16, 2048), 512 + 1024 - 16 + 2048)
      << "its first get began before the end";
  EXPECT_EQ(streams.line(1, 9 * 512, 10 * 512), 10 * 512) << "not where the last one ended";
  int64_t at = 512 + 1024 - 16 + 2048;
  for (int i = 0; i < 10; ++i) {
    const int64_t end = streams.line(1, at, at + 512);
    EXPECT_EQ(end - at, static_cast<int64_t>(Streams::longest_line));
    at = end;
  }
}

TEST(Streams, PlacesOfAStrideAreFetchedAhead) {
  for (const int64_t stride : {1000, -4096}) {
    Streams streams;
    int64_t at = 1 << 20;
    std::vector<uint32_t> places;
    for (int i = 0; i < 10; ++i) {
      const Ahead ahead = streams.missed(3, at);
      EXPECT_EQ(streams.missed(4, i * i * 5000).places, 0u) << "beside it";
      places.push_back(ahead.places);
      at += stride * (1 + static_cast<int64_t>(ahead.places));
      EXPECT_TRUE(ahead.places == 0 || ahead.stride == stride);
    }
    EXPECT_EQ(places, (std::vector<uint32_t>{0, 0, 0, 0, 1, 2, 4, 8, 8, 8}));
    EXPECT_EQ(streams.missed(3, at + 8).places, 0u) << "that is no place of it";
  }
}

TEST(Streams, NeighboursAndRandomPlacesAreNoStride) {
  Streams streams;
  for (int64_t at = 0; at < 8000; at += 8) EXPECT_EQ(streams.missed(1, at).places, 0u);
  std::mt19937_64 random(1);
  uint32_t places = 0;
  for (int i = 0; i < 20000; ++i)
    places += streams.missed(1, static_cast<int64_t>(random() % (1 << 20)) * 8).places;
  EXPECT_EQ(places, 0u);
}

}  // namespace TEST_FILE
}  // namespace nearcache
