#include "cache/tuner.h"

#include <gtest/gtest.h>

namespace nearcache {
namespace {

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
  odd.index_increase = odd.storage_increase = 0;
  EXPECT_GE(advise(odd, view).index_capacity, 4096u);
  EXPECT_GE(advise(odd, view).storage_bytes, 4 * mib);
  view.storage_bytes = view.free_bytes = 0;
  EXPECT_LE(advise({}, view).storage_bytes, 1u);
}

}  // namespace
}  // namespace nearcache
