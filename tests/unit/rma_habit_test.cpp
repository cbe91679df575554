// Whether the next call is expected at once, and what counts as the time between calls.
#include <gtest/gtest.h>

#include "rma/habit.h"

namespace nearcache::rma {
namespace TEST_FILE {

constexpr uint64_t soon = 1000, late = 30000, very_late = 100000000;  // ns

// Returns how many calls in quick succession it takes.
int until_expected(Habit* habit) {
  int times = 0;
  for (; !habit->expects(); ++times) habit->note(soon);
  return times;
}

// The share of the calls that are expected to follow at once, if every `length`th one is late.
double expected_of(Habit* habit, int length, uint64_t gap) {
  int expected = 0;
  for (int i = 1; i <= 100000; ++i) {
    expected += habit->expects();
    habit->note(i % length == 0 ? gap : soon);
  }
  return expected / 1e5;
}

TEST(Habit, ExpectsWhatHasComeSeveralTimes) {
  Habit habit;
  EXPECT_FALSE(habit.expects());
  EXPECT_EQ(until_expected(&habit), 8);
  EXPECT_EQ(expected_of(&habit, 1000000, late), 1);
}

TEST(Habit, IsGivenUpAtOnceAfterAWrongPrediction) {
  Habit habit;
  until_expected(&habit);
  habit.note(late);
  EXPECT_FALSE(habit.expects());
  EXPECT_EQ(until_expected(&habit), 8);
  habit.note(very_late);
  EXPECT_GT(until_expected(&habit), 200);
}

// A thread loses its core now and then.
TEST(Habit, OutlivesSomeWrongPredictions) {
  Habit habit;
  EXPECT_GT(expected_of(&habit, 100, late), 0.9);
}

TEST(Habit, IsGivenUpIfWrongPredictionsCostMoreThanRightOnesSave) {
  Habit habit;
  EXPECT_LT(expected_of(&habit, 16, late), 0.001);
  EXPECT_LT(expected_of(&habit, 500, very_late), 0.1);
  EXPECT_GT(expected_of(&habit, 10000, very_late), 0.8);
}

TEST(Habit, IsTakenUpAgain) {
  Habit habit;
  EXPECT_EQ(expected_of(&habit, 1, very_late), 0);
  EXPECT_LT(until_expected(&habit), 2500);
  EXPECT_EQ(expected_of(&habit, 1000000, late), 1);
}

TEST(Pause, IsTheTimeSinceItsBeginning) {
  Pause pause;
  EXPECT_FALSE(pause.has_begun());
  pause.begin(100);
  EXPECT_TRUE(pause.has_begun());
  EXPECT_EQ(pause.at(130), 30);
  pause.begin(200);
  EXPECT_EQ(pause.at(230), 30);
}

TEST(Pause, DoesNotIncludeTheWaitForTheLock) {
  Pause pause;
  pause.begin(100);
  pause.wait(110, 150);
  EXPECT_EQ(pause.at(160), 20);
  pause.wait(150, 155);
  EXPECT_EQ(pause.at(160), 15);
  pause.begin(200);
  EXPECT_EQ(pause.at(230), 30);
}

TEST(Pause, IncludesWhatWasWaitedForTheCallBefore) {
  Pause pause;
  pause.begin(100);
  pause.wait(90, 150);
  EXPECT_EQ(pause.at(160), 60);
}

// Several threads may wait at the same time.
TEST(Pause, IsNotNegative) {
  Pause pause;
  pause.begin(100);
  pause.wait(110, 150);
  pause.wait(110, 150);
  EXPECT_EQ(pause.at(160), 0);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
