// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/unflushed.h"

#include <gtest/gtest.h>

namespace nearcache::mpi {
namespace {

TEST(UnflushedTest, AFlushOfTheOnlyTargetCompletesAll) {
  Unflushed writes;
  EXPECT_TRUE(writes.none());
  writes.wrote(3);
  writes.wrote(3);
  EXPECT_TRUE(writes.targets().is_one() && writes.targets().rank() == 3);
  writes.completed(Targets::one(2));
  writes.completed(Targets::none());
  EXPECT_FALSE(writes.none());
  writes.completed(Targets::one(3));
  EXPECT_TRUE(writes.none() && writes.targets().is_none());
}

TEST(UnflushedTest, OfSeveralTargetsOnlyAllAreCompleted) {
  Unflushed writes;
  writes.wrote(0);
  writes.wrote(1);
  writes.completed(Targets::one(1));
  writes.completed(Targets::one(0));
  EXPECT_TRUE(writes.targets().is_all());
  writes.wrote(0);
  EXPECT_TRUE(writes.targets().is_all());
  writes.completed(Targets::all());
  EXPECT_TRUE(writes.none());
}

TEST(UnflushedTest, WhatNobodyTellsOfIsNeverKnownToBeComplete) {
  Unflushed writes;
  writes.wrote_untold();
  writes.wrote(0);
  writes.completed(Targets::one(0));
  writes.completed(Targets::all());
  EXPECT_TRUE(writes.targets().is_all());
}

TEST(UnflushedTest, RanksThatAreNoneGetNothing) {
  Unflushed writes;
  for (const int nobody : {-1, -2, -3, -32766}) writes.wrote(nobody);
  EXPECT_TRUE(writes.none());
}

}  // namespace
}  // namespace nearcache::mpi
