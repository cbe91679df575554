// Messages that have come too early.
#include <gtest/gtest.h>

#include <vector>

#include "rma/held_messages.h"

namespace nearcache::rma {
namespace TEST_FILE {

bool hold(HeldMessages* held, uint64_t token, size_t bytes = 0) {
  BatchWriter batch;
  batch.append({.kind = bytes > 0 ? Kind::put : Kind::complete, .length = bytes, .token = token});
  return held->hold(batch.bytes());
}

std::vector<uint64_t> rest(const HeldMessages& held) {
  std::vector<uint64_t> tokens;
  BatchReader reader = held.rest();
  for (Message message; reader.next(&message);) tokens.push_back(message.head.token);
  return tokens;
}

TEST(HeldMessages, AreTakenInOrderUntilOneMustStay) {
  HeldMessages held;
  for (uint64_t token = 1; token <= 5; ++token) EXPECT_TRUE(hold(&held, token, token % 2 * 24));
  std::vector<uint64_t> taken;
  const auto up_to = [&](uint64_t last) {
    return held.take_while([&](const Message& message) {
      if (message.head.token > last) return false;
      taken.push_back(message.head.token);
      return true;
    });
  };
  EXPECT_FALSE(up_to(2));
  EXPECT_EQ(taken, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(rest(held), (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_FALSE(up_to(2));
  EXPECT_TRUE(hold(&held, 6));
  EXPECT_FALSE(up_to(4));
  EXPECT_TRUE(hold(&held, 7));  // makes room first
  EXPECT_EQ(rest(held), (std::vector<uint64_t>{5, 6, 7}));
  EXPECT_TRUE(up_to(7));
  EXPECT_EQ(taken, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(rest(held).empty());
}

// Taking one must not cost more if many are held.
TEST(HeldMessages, BehindThoseThatAreTakenStayWhereTheyAre) {
  HeldMessages held;
  for (uint64_t token = 0; token < 10; ++token) hold(&held, token);
  const std::byte* last = nullptr;
  BatchReader reader = held.rest();
  for (Message message; reader.next(&message);) last = message.whole.data();
  for (uint64_t next = 0; next < 10; ++next) {
    held.take_while([&](const Message& message) { return message.head.token <= next; });
    BatchReader after = held.rest();
    for (Message message; after.next(&message);) {
      if (message.head.token == 9) EXPECT_EQ(message.whole.data(), last);
    }
  }
}

TEST(HeldMessages, AreBoundedByWhatIsStillHeld) {
  constexpr size_t bytes = 1 << 20;
  HeldMessages held;
  uint64_t token = 0;
  while (hold(&held, token, bytes)) ++token;
  EXPECT_EQ(token, most_held / bytes - 1);
  for (uint64_t next = 0; next < 100; ++next) {
    held.take_while([&](const Message& message) { return message.head.token == next; });
    EXPECT_TRUE(hold(&held, token++, bytes));
    EXPECT_FALSE(hold(&held, token, bytes));
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
