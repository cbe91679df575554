// Gets in flight: in which order a synchronisation finds them, and who waits for them.
#include "cache/get/pending.h"

#include <gtest/gtest.h>

#include <vector>

namespace nearcache {
namespace TEST_FILE {

constexpr uint32_t ranks = 3;
constexpr uint64_t any_serial = UINT64_MAX;

PendingGet get_from(uint32_t target) {
  PendingGet get;
  get.target = target;
  get.elements = {&byte_layout(), 8};
  return get;
}

Waiter wants(uint64_t start) { return {no_record, nullptr, {&byte_layout(), 1}, start, 1}; }

class PendingGetsTest : public testing::Test {
 protected:
  std::vector<uint64_t> starts_of_waiters(uint32_t record) {
    std::vector<uint64_t> starts;
    gets.take_waiters(record, [&](const Waiter& waiter) { starts.push_back(waiter.start); });
    return starts;
  }

  PendingGets gets{ranks, true};
};

TEST_F(PendingGetsTest, are_found_in_order_of_issue_by_target_and_of_all) {
  const uint32_t first = gets.add(get_from(1)), second = gets.add(get_from(2)),
                 third = gets.add(get_from(1));
  EXPECT_EQ(gets.first(Targets::all(), any_serial), first);
  EXPECT_EQ(gets.first(Targets::one(2), any_serial), second);
  EXPECT_EQ(gets.first(Targets::one(0), any_serial), no_record);
  EXPECT_EQ(gets.first(Targets::none(), any_serial), no_record);
  gets.remove(first);
  EXPECT_EQ(gets.first(Targets::all(), any_serial), second);
  EXPECT_EQ(gets.first(Targets::one(1), any_serial), third);
  gets.remove(second);
  gets.remove(third);
  EXPECT_TRUE(gets.none());
}

TEST_F(PendingGetsTest, issued_after_a_synchronisation_began_are_not_found_by_it) {
  const uint32_t before = gets.add(get_from(1));
  const uint64_t up_to = gets.last_serial();
  gets.add(get_from(1));
  EXPECT_EQ(gets.first(Targets::one(1), up_to), before);
  gets.remove(before);
  EXPECT_EQ(gets.first(Targets::one(1), up_to), no_record);
  EXPECT_EQ(gets.first(Targets::all(), up_to), no_record);
}

TEST_F(PendingGetsTest, are_told_from_later_ones_with_their_number) {
  const uint32_t record = gets.add(get_from(1));
  const uint64_t serial = gets.last_serial();
  EXPECT_TRUE(gets.is_of(record, serial));
  gets.remove(record);
  EXPECT_FALSE(gets.is_of(record, serial));
  EXPECT_EQ(gets.add(get_from(2)), record);
  EXPECT_FALSE(gets.is_of(record, serial));
  EXPECT_FALSE(gets.is_of(no_record, serial));
}

TEST_F(PendingGetsTest, answer_each_that_waits_once) {
  const uint32_t one = gets.add(get_from(1)), other = gets.add(get_from(1));
  gets.add_waiter(one, wants(1));
  gets.add_waiter(other, wants(2));
  gets.add_waiter(one, wants(3));
  EXPECT_EQ(starts_of_waiters(one), (std::vector<uint64_t>{3, 1}));
  EXPECT_EQ(starts_of_waiters(one), std::vector<uint64_t>());
  EXPECT_EQ(starts_of_waiters(other), std::vector<uint64_t>{2});
}

TEST_F(PendingGetsTest, do_not_answer_a_waiter_that_was_removed) {
  const uint32_t record = gets.add(get_from(1));
  std::vector<uint32_t> waiters;
  for (uint64_t start = 0; start < 4; ++start)
    waiters.push_back(gets.add_waiter(record, wants(start)));
  gets.remove_waiter(record, waiters[3]);
  gets.remove_waiter(record, waiters[1]);
  gets.remove_waiter(record, waiters[1]);
  EXPECT_EQ(starts_of_waiters(record), (std::vector<uint64_t>{2, 0}));
}

TEST_F(PendingGetsTest, of_a_simulation_have_no_waiters) {
  PendingGets simulated{ranks, false};
  const uint32_t record = simulated.add(get_from(1));
  EXPECT_EQ(simulated.add_waiter(record, wants(0)), no_record);
  simulated.take_waiters(record, [](const Waiter&) { FAIL(); });
}

TEST_F(PendingGetsTest, outlive_their_entries) {
  PendingGet get = get_from(1);
  get.entry = 7;
  const uint32_t record = gets.add(get);
  gets.add_waiter(record, wants(5));
  gets.forget_entries();
  EXPECT_EQ(gets[record].entry, no_entry);
  EXPECT_EQ(starts_of_waiters(record), std::vector<uint64_t>{5});
}

}  // namespace TEST_FILE
}  // namespace nearcache
