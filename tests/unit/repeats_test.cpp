// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/repeats.h"

#include <gtest/gtest.h>

#include <vector>

namespace nearcache {
namespace {

class RepeatsTest : public testing::Test {
 protected:
  void fetch(int64_t at, uint32_t acquires) {
    repeats_.arrived({at, 1, 0}, data_.data(), data_.size(), acquires);
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(256);
  Repeats repeats_;
};

TEST_F(RepeatsTest, WhatIsReadOnceIsNone) {
  for (int64_t at = 0; at < 10000; ++at) fetch(256 * at, 1);
  EXPECT_EQ(repeats_.count(), 0u);
}

TEST_F(RepeatsTest, TheSameBytesAfterAnAcquireAreOne) {
  fetch(0, 1);
  fetch(0, 1);
  EXPECT_EQ(repeats_.count(), 0u) << "no acquire in between";
  fetch(0, 2);
  fetch(0, 3);
  EXPECT_GE(repeats_.count(), 2u);
}

TEST_F(RepeatsTest, ChangedBytesAreNone) {
  uint32_t acquires = 0;
  for (const size_t at : {size_t{0}, data_.size() - 1}) {
    for (const int value : {1, 2, 3}) {
      data_[at] = static_cast<std::byte>(value);
      fetch(0, ++acquires);
      EXPECT_EQ(repeats_.count(), 0u) << at;
    }
  }
}

TEST_F(RepeatsTest, RepeatsFarApartAreFoundByASample) {
  for (uint32_t acquires = 1; acquires <= 4; ++acquires) {
    for (int64_t at = 0; at < 4000; ++at) fetch(256 * at, acquires);
  }
  EXPECT_GT(repeats_.count(), 3u * 4000 / 4);
  EXPECT_LT(repeats_.count(), 3u * 4000 * 2);
}

TEST_F(RepeatsTest, AreForgotten) {
  fetch(0, 1);
  fetch(0, 2);
  repeats_.forget();
  fetch(0, 3);
  EXPECT_EQ(repeats_.count(), 0u);
}

}  // namespace
}  // namespace nearcache
