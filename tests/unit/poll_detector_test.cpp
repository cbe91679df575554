#include "cache/poll_detector.h"

#include <gtest/gtest.h>

#include <vector>

namespace nearcache::test {
namespace TEST_FILE {

// Returns the result of the look after some rounds of hits on these addresses.
bool polling(const std::vector<uint64_t>& addresses) {
  PollDetector polls;
  for (uint32_t i = 0; !polls.time_to_look(); ++i) polls.quick_hit(addresses[i % addresses.size()]);
  return polls.look();
}

TEST(PollDetector, AFewWordsReadOverAndOverArePolled) {
  EXPECT_TRUE(polling({0x1000}));
  EXPECT_TRUE(polling({0x1000, 0x1008}));
  EXPECT_TRUE(polling({0x1000, 0x1008, 0x8000, 0xff00}));
}

TEST(PollDetector, ManyWordsAreNot) {
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < 8; ++i) words.push_back(8 * i);
  EXPECT_FALSE(polling(words)) << "beside each other";
  for (uint64_t i = 0; i < 8; ++i) words[i] = 4096 * i;
  EXPECT_FALSE(polling(words)) << "of several pages";
}

TEST(PollDetector, BytesOfAWordAreOneWord) {
  EXPECT_TRUE(polling({0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x1006, 0x1007}));
}

TEST(PollDetector, ALookIsDueAfterSoManyHits) {
  PollDetector polls;
  for (uint32_t i = 1; i < PollDetector::reads_a_look; ++i) ASSERT_FALSE(polls.quick_hit(64));
  EXPECT_TRUE(polls.quick_hit(64));
  EXPECT_TRUE(polls.time_to_look());
  polls.look();
  EXPECT_FALSE(polls.time_to_look());
  EXPECT_FALSE(polls.quick_hit(64));
}

// Looks that are taken at once delay nothing, unless the program polls; then the next one must
// wait.
TEST(PollDetector, LooksAtOnce) {
  PollDetector polls;
  for (uint32_t i = 1; i < 10 * PollDetector::reads_a_look; ++i) {
    ASSERT_FALSE(polls.quick_hit_polls(8 * i)) << i;
    ASSERT_EQ(polls.quick_hits(), i);
  }
  PollDetector of_one_word;
  for (uint32_t i = 1; i < PollDetector::reads_a_look; ++i)
    ASSERT_FALSE(of_one_word.quick_hit_polls(64));
  EXPECT_TRUE(of_one_word.quick_hit_polls(64));
  EXPECT_TRUE(of_one_word.quick_hit_polls(64));
  EXPECT_TRUE(of_one_word.time_to_look());
  EXPECT_TRUE(of_one_word.look());
  EXPECT_FALSE(of_one_word.quick_hit_polls(64));
}

// Reads of all kinds between two looks count: otherwise both would be due at the same read, and
// slowly served words would take every look.
TEST(PollDetector, AllReadsCount) {
  for (uint32_t kinds = 0; kinds < 27; ++kinds) {
    PollDetector polls;
    const uint32_t kind[] = {kinds % 3, kinds / 3 % 3, kinds / 9};
    for (uint32_t read = 0; read < 10 * PollDetector::reads_a_look; ++read) {
      const bool due = read % PollDetector::reads_a_look == PollDetector::reads_a_look - 1;
      if (kind[read % 3] == 0) {
        ASSERT_EQ(polls.quick_hit(64), due) << "read " << read;
      } else {
        ASSERT_EQ(polls.time_to_look(), due) << "read " << read;
        if (!due) kind[read % 3] == 1 ? polls.slow_hit(64) : polls.miss();
      }
      if (due) polls.look();
    }
  }
}

TEST(PollDetector, HitsAmongMissesArePollsUnlessTheyAreFew) {
  PollDetector polls;
  for (int i = 0; i < 15; ++i) polls.slow_hit(64), polls.miss(), polls.miss();
  EXPECT_TRUE(polls.look());
  for (int i = 0; i < 11; ++i) polls.slow_hit(64), polls.miss(), polls.miss(), polls.miss();
  EXPECT_FALSE(polls.look());
  for (int i = 0; i < 46; ++i) polls.miss();
  EXPECT_FALSE(polls.look());
}

TEST(PollDetector, WhatWasReadBeforeALookIsForgotten) {
  PollDetector polls;
  for (uint64_t i = 0; i < 40; ++i) polls.slow_hit(4096 * i);
  polls.look();
  polls.slow_hit(64);
  EXPECT_TRUE(polls.look());
}

TEST(PollDetector, TheHitThatIsKeptBackForALookIsNotServed) {
  PollDetector polls;
  uint64_t served = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!polls.quick_hit(64)) {
      ++served;
    } else {
      polls.look();
    }
    EXPECT_EQ(polls.quick_hits(), served);
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
