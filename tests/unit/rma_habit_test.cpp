// Whether the next call is expected at once.
#include <gtest/gtest.h>

#include "rma/habit.h"

namespace nearcache::rma {
namespace TEST_FILE {

// Returns how many calls in quick succession it takes.
int until_expected(Habit* habit) {
  int times = 0;
  for (; !habit->expects(); ++times) habit->note(true);
  return times;
}

TEST(Habit, ExpectsWhatHasComeSeveralTimes) {
  Habit habit;
  EXPECT_FALSE(habit.expects());
  EXPECT_EQ(until_expected(&habit), 8);
  for (int i = 0; i < 100000; ++i) habit.note(true);
  EXPECT_TRUE(habit.expects());
}

TEST(Habit, IsGivenUpAtOnceAndHarderToTakeUpEachTime) {
  Habit habit;
  until_expected(&habit);
  for (const int times : {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096}) {
    habit.note(false);
    EXPECT_FALSE(habit.expects());
    EXPECT_EQ(until_expected(&habit), times);
  }
}

TEST(Habit, WhatWasNotExpectedIsNoDisappointment) {
  Habit habit;
  for (int i = 0; i < 100; ++i) habit.note(false);
  EXPECT_EQ(until_expected(&habit), 8);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
