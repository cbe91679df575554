#include "cache/get/tuner.h"

#include <gtest/gtest.h>

namespace nearcache {
namespace TEST_FILE {

constexpr uint64_t mib = 1 << 20;

TunerView quiet() {
  TunerView view{};
  view.gets = 1000;
  view.entries = 2000;
  view.index_capacity = 4096;
  view.storage_bytes = 4 * mib;
  view.free_bytes = mib;
  return view;
}

TEST(Tuner, LeavesAQuietCacheAlone) {
  const TunerAdvice advice = advise({}, quiet());
  EXPECT_EQ(advice.index_capacity, 4096u);
  EXPECT_EQ(advice.storage_bytes, 4 * mib);
}

TEST(Tuner, ManyConflictsGrowTheIndex) {
  TunerView view = quiet();
  view.conflicting = 51;
  EXPECT_GE(advise({}, view).index_capacity, 8192u);
  view.conflicting = 50;
  EXPECT_EQ(advise({}, view).index_capacity, 4096u);
}

TEST(Tuner, ASparseIndexOfAStableCacheShrinks) {
  TunerView view = quiet();
  view.entries = 300;
  EXPECT_EQ(advise({}, view).index_capacity, 4096u) << "still filling";
  view.hits = 950;
  EXPECT_LE(advise({}, view).index_capacity, 2049u);
  view.index_capacity = 512;
  view.entries = 1;
  EXPECT_EQ(advise({}, view).index_capacity, 512u);
}

TEST(Tuner, MissesForLackOfRoomGrowTheStorageOnlyIfGetsRepeat) {
  TunerView view = quiet();
  view.no_room = 500;
  view.free_bytes = 0;
  EXPECT_EQ(advise({}, view).storage_bytes, 4 * mib) << "a scan gains nothing from storage";
  view.returning = 60;
  EXPECT_GE(advise({}, view).storage_bytes, 8 * mib);
  view.returning = 0;
  view.hits = 60;
  EXPECT_GE(advise({}, view).storage_bytes, 8 * mib);
}

TEST(Tuner, AStableCacheWithMuchFreeStorageShrinks) {
  TunerView view = quiet();
  view.hits = 950;
  view.free_bytes = 3 * mib;
  EXPECT_LT(advise({}, view).storage_bytes, 4 * mib);
  view.hits = 800;
  EXPECT_EQ(advise({}, view).storage_bytes, 4 * mib);
}

TEST(Tuner, AGrowthIsNotUndoneAtTheNextLook) {
  TunerView view = quiet();
  view.returning = 100;
  view.no_room = 100;
  view.free_bytes = 4096;
  const uint64_t stored = view.storage_bytes - view.free_bytes;
  view.storage_bytes = advise({}, view).storage_bytes;
  view.free_bytes = view.storage_bytes - stored;
  view.no_room = view.returning = 0;
  view.hits = 1000;
  EXPECT_EQ(advise({}, view).storage_bytes, view.storage_bytes);
}

TEST(Tuner, GetsTurnedAwayWeighMoreTheLessTheOthersCost) {
  TunerView view = quiet();
  view.hits = 970;
  view.no_room = 20;
  view.hit_cost = 1;
  EXPECT_EQ(advise({}, view).storage_bytes, 4 * mib) << "2% of the cost";
  view.hit_cost = 0.05;
  EXPECT_GE(advise({}, view).storage_bytes, 8 * mib) << "a quarter of the cost";
  view.no_room = 0;
  view.conflicting = 20;
  EXPECT_GE(advise({}, view).index_capacity, 8192u);
}

TEST(Tuner, SmallSizesGrowInLargerStepsButNotBeyondTheDefaults) {
  TunerView view = quiet();
  view.no_room = view.conflicting = 500;
  view.returning = 100;
  view.index_capacity = 200;
  view.storage_bytes = 64 * 1024;
  EXPECT_GE(advise({}, view).index_capacity, 800u);
  EXPECT_GE(advise({}, view).storage_bytes, 256 * 1024u);
  view.index_capacity = 3000;
  view.storage_bytes = 700 * 1024;
  EXPECT_LE(advise({}, view).index_capacity, 6001u);
  EXPECT_LE(advise({}, view).storage_bytes, 1400 * 1024u + 1);
}

TEST(Tuner, LittleStorageGrowsToTheDefaultWithoutEvidence) {
  TunerView view = quiet();
  view.no_room = 500;
  view.returning = 10;
  view.storage_bytes = 4 * mib;
  EXPECT_EQ(advise({}, view).storage_bytes, 4 * mib);
  view.storage_bytes = 64 * 1024;
  view.returning = 0;
  EXPECT_EQ(advise({}, view).storage_bytes, mib);
}

TEST(Tuner, AnEarlyLookShrinksNothing) {
  TunerView view = quiet();
  view.hits = 990;
  view.entries = 10;
  view.free_bytes = view.storage_bytes - 4096;
  EXPECT_LT(advise({}, view).index_capacity, 4096u);
  EXPECT_LT(advise({}, view).storage_bytes, 4 * mib);
  view.early = true;
  EXPECT_EQ(advise({}, view).index_capacity, 4096u);
  EXPECT_EQ(advise({}, view).storage_bytes, 4 * mib);
}

TEST(Tuner, FarTooMuchShrinksInOneStepToWhatIsNotSparse) {
  TunerView view = quiet();
  view.hits = 990;
  view.index_capacity = 1 << 20;
  view.entries = 1000;
  view.storage_bytes = 1024 * mib;
  view.free_bytes = view.storage_bytes - 2 * mib;
  const TunerAdvice advice = advise({}, view);
  EXPECT_LE(advice.index_capacity, 16384u);
  EXPECT_GE(advice.index_capacity, 4000u);
  EXPECT_LE(advice.storage_bytes, 8 * mib);
  EXPECT_GE(advice.storage_bytes, 3 * mib);
}

TEST(Tuner, DoesNothingWhenNotAdaptiveOrIdle) {
  TunerView view = quiet();
  view.conflicting = view.no_room = view.returning = 1000;
  TunerSettings fixed;
  fixed.adaptive = false;
  EXPECT_EQ(advise(fixed, view).index_capacity, 4096u);
  EXPECT_EQ(advise(fixed, view).storage_bytes, 4 * mib);
  view.gets = 0;
  EXPECT_EQ(advise({}, view).index_capacity, 4096u);
}

TEST(Tuner, FactorsBelowOneAndNoStorageDoNoHarm) {
  TunerView view = quiet();
  view.conflicting = view.no_room = view.returning = 1000;
  TunerSettings odd;
  odd.index_increase = odd.storage_increase = odd.index_decrease = odd.storage_decrease = 0;
  EXPECT_GE(advise(odd, view).index_capacity, 4096u);
  EXPECT_GE(advise(odd, view).storage_bytes, 4 * mib);
  view.storage_bytes = view.free_bytes = 0;
  EXPECT_LE(advise({}, view).storage_bytes, 1u);
}

}  // namespace TEST_FILE
}  // namespace nearcache
