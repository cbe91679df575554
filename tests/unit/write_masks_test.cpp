#include "cache/page/write_masks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nearcache::test {
namespace TEST_FILE {

constexpr size_t page = 1024;

struct Masks {
  explicit Masks(size_t count) : memory(WriteMasks::bytes(count, page) / sizeof(uint64_t), 0) {
    masks.create(memory.data(), count, page);
  }
  ~Masks() { sound(); }
  void sound() { EXPECT_EQ(masks.broken(), nullptr) << masks.broken(); }
  std::vector<uint32_t> pages_oldest_first() {
    std::vector<uint32_t> pages;
    for (uint32_t i = masks.oldest(); i != 0; i = masks[i].newer) pages.push_back(masks[i].page);
    return pages;
  }
  uint16_t take(uint32_t of) {
    const uint16_t i = masks.take(of);
    sound();
    return i;
  }
  bool give_back(uint16_t i) {
    const bool given = masks.give_back(i);
    sound();
    return given;
  }

  std::vector<uint64_t> memory;
  WriteMasks masks;
};

using Pages = std::vector<uint32_t>;

TEST(WriteMasks, PagesAreInTheOrderInWhichTheyWereFirstWritten) {
  Masks m(4);
  EXPECT_TRUE(m.masks.empty());
  const uint16_t first = m.take(70), second = m.take(10), third = m.take(50);
  EXPECT_EQ(m.pages_oldest_first(), (Pages{70, 10, 50}));
  m.give_back(second);
  EXPECT_EQ(m.pages_oldest_first(), (Pages{70, 50}));
  m.take(90);
  EXPECT_EQ(m.pages_oldest_first(), (Pages{70, 50, 90}));
  m.give_back(first);
  m.give_back(third);
  EXPECT_EQ(m.pages_oldest_first(), (Pages{90}));
  EXPECT_EQ(m.masks.used(), 1u);
}

TEST(WriteMasks, ThereAreAsManyAsWereAskedFor) {
  Masks m(3);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(m.masks.full());
    EXPECT_NE(m.take(i), 0);
  }
  EXPECT_TRUE(m.masks.full());
  m.give_back(1);
  EXPECT_FALSE(m.masks.full());
}

TEST(WriteMasks, OneWithAWrittenByteIsKept) {
  Masks m(2);
  const uint16_t i = m.take(0);
  WriteMasks::Mask& mask = m.masks[i];
  m.masks.set_dirty(mask, 100, 101);
  EXPECT_FALSE(m.give_back(i)) << "dirty";
  m.masks.flying(mask).set(100, 101);
  m.masks.dirty(mask).clear(100, 101);
  EXPECT_FALSE(m.give_back(i)) << "in flight";
  m.masks.flying(mask).clear_all();
  EXPECT_TRUE(m.give_back(i));
}

TEST(WriteMasks, WrittenRangesAreOfDirtyBytesAndOfThoseInFlight) {
  Masks m(2);
  WriteMasks::Mask& mask = m.masks[m.take(0)];
  m.masks.set_dirty(mask, 60, 200);
  m.masks.dirty(mask).clear(60, 128);
  m.masks.flying(mask).set(60, 128);
  m.masks.set_dirty(mask, 700, 1024);
  EXPECT_EQ(m.masks.written_to(mask, 59), 59u);
  EXPECT_EQ(m.masks.written_to(mask, 60), 128u) << "up to where the kind changes";
  EXPECT_EQ(m.masks.written_to(mask, 128), 200u);
  EXPECT_EQ(m.masks.written_to(mask, 700), 1024u);
  EXPECT_EQ(m.masks.next_written(mask, 0), 60u);
  EXPECT_EQ(m.masks.next_written(mask, 200), 700u);
  EXPECT_TRUE(m.masks.written(mask, 60));
  EXPECT_TRUE(m.masks.written(mask, 1023));
  EXPECT_FALSE(m.masks.written(mask, 200));
}

TEST(WriteMasks, WhatIsOutsideOfTheBoundsIsNoticed) {
  Masks m(2);
  WriteMasks::Mask& mask = m.masks[m.take(0)];
  m.masks.set_dirty(mask, 0, 64);
  m.masks.flying(mask).set(64, 65);
  ASSERT_NE(m.masks.broken(), nullptr);
  EXPECT_EQ(std::string(m.masks.broken()).substr(0, 2), "7:");
  m.masks.set_dirty(mask, 64, 65);
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
