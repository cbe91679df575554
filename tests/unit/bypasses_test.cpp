#include "mpi/window/bypasses.h"

#include <gtest/gtest.h>

namespace nearcache::mpi {
namespace TEST_FILE {

TEST(Bypasses, GetsAreConsideredThoughManyWritesComeBetween) {
  Bypasses bypasses;
  int gets = 0, others = 0;
  for (uint32_t turn = 0; turn < 2 * Bypasses::look; ++turn) {
    gets += bypasses.get_passed() ? 1 : 0;
    for (int write = 0; write < 5; ++write) others += bypasses.other_passed() ? 1 : 0;
  }
  EXPECT_EQ(gets, 2);
  EXPECT_EQ(others, 0);
}

TEST(Bypasses, WritesAloneAreConsidered) {
  Bypasses bypasses;
  bypasses.get_passed();
  for (uint32_t write = 1; write < Bypasses::look; ++write) EXPECT_FALSE(bypasses.other_passed());
  EXPECT_TRUE(bypasses.other_passed());
}

TEST(Bypasses, AFewGetsShowThatOthersWillBypass) {
  Bypasses bypasses;
  for (uint32_t get = 0; get < Bypasses::few; ++get) {
    EXPECT_FALSE(bypasses.gets_bypass());
    bypasses.get_passed();
  }
  bypasses.other_passed();
  EXPECT_TRUE(bypasses.gets_bypass());
  bypasses.get_asked();
  EXPECT_FALSE(bypasses.gets_bypass());
}

TEST(Bypasses, AGetThatIsLookedUpEndsTheRow) {
  Bypasses bypasses;
  for (uint32_t call = 1; call < Bypasses::look; ++call) {
    EXPECT_FALSE(bypasses.get_passed());
  }
  bypasses.get_asked();
  for (uint32_t call = 1; call < Bypasses::look; ++call) {
    EXPECT_FALSE(bypasses.get_passed());
  }
  EXPECT_TRUE(bypasses.get_passed());
}

}  // namespace TEST_FILE
}  // namespace nearcache::mpi
