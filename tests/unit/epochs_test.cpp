#include "cache/get/epochs.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace nearcache {
namespace TEST_FILE {

constexpr uint32_t ranks = 4;
const Targets all = Targets::all();

void synchronise(Epochs& epochs, Targets targets, bool local = false, bool succeeded = true) {
  epochs.end(epochs.begin(targets, local, Epochs::no_mark), succeeded);
}

void write(Epochs& epochs, uint32_t target, uint32_t mark = 0) {
  epochs.write_begins(target, mark);
  epochs.write_issued(target);
}

// The state as observers see it.
std::string state(const Epochs& epochs) {
  std::string text = epochs.quiet() ? "quiet" : "busy";
  for (uint32_t target = 0; target < ranks; ++target) {
    for (const bool each :
         {epochs.gets_noted(target), epochs.writes_outstanding(target), epochs.outstanding(target),
          epochs.certainly_open(target), epochs.flush_is_empty(Targets::one(target))})
      text += each ? '1' : '0';
    text += ' ' + std::to_string(epochs.mark(target));
  }
  return text + (epochs.flush_is_empty(all) ? " empty" : "");
}

TEST(Epochs, the_short_end_of_one_target_is_that_of_the_long_way) {
  std::mt19937 random(1);
  Epochs brief(ranks), full(ranks);
  int taken = 0;
  for (uint32_t step = 0; step < 20000; ++step) {
    const uint32_t target = random() % ranks, other = random() % ranks;
    switch (random() % 12) {
      case 0:
        brief.lock_all(), full.lock_all();
        break;
      case 1:
        brief.unlock_all(), full.unlock_all();
        break;
      case 2:
        brief.lock(target, true), full.lock(target, true);
        break;
      case 3:
        brief.unlock(target), full.unlock(target);
        break;
      case 4:
        brief.all_outstanding(step % 2 != 0), full.all_outstanding(step % 2 != 0);
        break;
      case 5:
      case 6:
        brief.get_issued(target), full.get_issued(target);
        break;
      case 7:
        write(brief, target, step), write(full, target, step);
        break;
      case 8: {  // while a write is being issued
        brief.write_begins(other, step), full.write_begins(other, step);
        EXPECT_FALSE(brief.end_alone(target));
        brief.write_issued(other), full.write_issued(other);
        break;
      }
      case 9:
        synchronise(brief, all), synchronise(full, all);
        break;
      default:
        if (brief.end_alone(target)) {
          ++taken;
        } else {
          synchronise(brief, Targets::one(target));
        }
        synchronise(full, Targets::one(target));
    }
    ASSERT_EQ(state(brief), state(full)) << "step " << step;
  }
  EXPECT_GT(taken, 100);
}

TEST(Targets, a_rank_that_is_no_target_is_none_whatever_its_number) {
  for (const int rank : {-1, -2, 4, 1000, INT32_MIN, INT32_MAX}) {
    EXPECT_TRUE(Targets::named(rank, ranks).is_none()) << rank;
    EXPECT_FALSE(Targets::named(rank, ranks).is_all()) << rank;
  }
  EXPECT_TRUE(Targets::named(3, ranks).cover(3));
  EXPECT_FALSE(Targets::named(3, ranks).cover(2));
  EXPECT_TRUE(all.cover(2));
  EXPECT_FALSE(Targets::none().cover(0));
}

TEST(Epochs, a_synchronisation_of_no_target_completes_nothing) {
  Epochs epochs(ranks);
  epochs.lock_all();
  epochs.get_issued(1);
  write(epochs, 2);
  synchronise(epochs, Targets::none());
  EXPECT_TRUE(epochs.gets_noted(1));
  EXPECT_TRUE(epochs.writes_outstanding(2));
  EXPECT_FALSE(epochs.quiet());
  EXPECT_FALSE(epochs.flush_is_empty(Targets::none()));
}

TEST(Epochs, a_flush_of_no_target_goes_down_where_nothing_is_outstanding_too) {
  Epochs epochs(ranks);
  epochs.lock_all();
  EXPECT_TRUE(epochs.flush_is_empty(Targets::one(0)));
  EXPECT_FALSE(epochs.flush_is_empty(Targets::none()));
}

TEST(Epochs, one_target_is_completed_alone) {
  Epochs epochs(ranks);
  epochs.lock_all();
  epochs.get_issued(1);
  epochs.get_issued(2);
  synchronise(epochs, Targets::one(1));
  EXPECT_TRUE(epochs.flush_is_empty(Targets::one(1)));
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(2)));
  EXPECT_FALSE(epochs.flush_is_empty(all));
  synchronise(epochs, all);
  EXPECT_TRUE(epochs.flush_is_empty(all));
  EXPECT_TRUE(epochs.quiet());
}

TEST(Epochs, a_local_synchronisation_leaves_writes_outstanding) {
  Epochs epochs(ranks);
  epochs.lock_all();
  epochs.get_issued(1);
  write(epochs, 1);
  synchronise(epochs, Targets::one(1), true);
  EXPECT_FALSE(epochs.gets_noted(1));
  EXPECT_TRUE(epochs.writes_outstanding(1) && epochs.some_writes_outstanding());
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(1)));
  epochs.get_issued(2);
  synchronise(epochs, Targets::one(1));
  EXPECT_FALSE(epochs.some_writes_outstanding() || epochs.quiet());
}

TEST(Epochs, a_failed_synchronisation_completes_nothing) {
  Epochs epochs(ranks);
  epochs.lock_all();
  epochs.get_issued(1);
  write(epochs, 1);
  synchronise(epochs, all, false, false);
  EXPECT_TRUE(epochs.gets_noted(1));
  EXPECT_TRUE(epochs.writes_outstanding(1));
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(1)));
  EXPECT_FALSE(epochs.under_way());
}

TEST(Epochs, while_a_synchronisation_is_under_way_everything_is_outstanding_still) {
  Epochs epochs(ranks);
  epochs.lock_all();
  write(epochs, 1);
  const Epochs::Sync sync = epochs.begin(Targets::one(1), false, Epochs::no_mark);
  EXPECT_TRUE(epochs.writes_outstanding(1));
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(2)));
  epochs.end(sync, true);
  EXPECT_FALSE(epochs.writes_outstanding(1));
}

TEST(Epochs, what_is_issued_during_a_synchronisation_is_not_completed_by_it) {
  Epochs epochs(ranks);
  const Epochs::Sync sync = epochs.begin(all, false, Epochs::no_mark);
  epochs.get_issued(1);
  write(epochs, 2);
  epochs.end(sync, true);
  EXPECT_TRUE(epochs.gets_noted(1));
  EXPECT_TRUE(epochs.writes_outstanding(2));
}

TEST(Epochs, a_write_that_is_being_issued_when_a_synchronisation_begins_is_not_completed_by_it) {
  Epochs epochs(ranks);
  epochs.write_begins(1, 0);
  const Epochs::Sync before = epochs.begin(all, false, Epochs::no_mark);
  epochs.write_issued(1);
  epochs.end(before, true);
  EXPECT_TRUE(epochs.writes_outstanding(1));
  epochs.write_begins(2, 0);
  const Epochs::Sync during = epochs.begin(all, false, Epochs::no_mark);
  epochs.end(during, true);
  EXPECT_FALSE(epochs.writes_outstanding(1));
  EXPECT_TRUE(epochs.writes_outstanding(2));
}

TEST(Epochs, the_mark_is_that_before_the_first_outstanding_write) {
  Epochs epochs(ranks);
  write(epochs, 1, 10);
  write(epochs, 1, 11);
  EXPECT_EQ(epochs.mark(1), 10u);
  // Another thread keeps writing while the first two writes are completed.
  const Epochs::Sync sync = epochs.begin(Targets::one(1), false, 12);
  write(epochs, 1, 12);
  epochs.end(sync, true);
  EXPECT_TRUE(epochs.writes_outstanding(1));
  EXPECT_EQ(epochs.mark(1), 12u);
  synchronise(epochs, all);
  write(epochs, 1, 20);
  EXPECT_EQ(epochs.mark(1), 20u);
}

TEST(Epochs, the_mark_stays_where_a_write_was_being_issued) {
  Epochs epochs(ranks);
  write(epochs, 1, 10);
  epochs.write_begins(1, 11);
  const Epochs::Sync sync = epochs.begin(Targets::one(1), false, 12);
  epochs.write_issued(1);
  epochs.end(sync, true);
  EXPECT_EQ(epochs.mark(1), 10u);
}

TEST(Epochs, numbers_that_begin_anew_are_compared_with_no_older_ones) {
  Epochs epochs(ranks);
  write(epochs, 1, 4000000000u);
  const Epochs::Sync sync = epochs.begin(Targets::one(1), false, 4000000001u);
  epochs.forget_marks();
  EXPECT_EQ(epochs.mark(1), Epochs::no_mark);
  write(epochs, 1, 1);
  epochs.end(sync, true);
  EXPECT_EQ(epochs.mark(1), Epochs::no_mark);
}

TEST(Epochs, a_synchronisation_from_before_moves_no_mark_of_the_new_numbers) {
  Epochs epochs(ranks);
  write(epochs, 1, 4000000000u);
  const Epochs::Sync old = epochs.begin(Targets::one(1), false, 4000000001u);
  epochs.forget_marks();
  synchronise(epochs, Targets::one(1));
  write(epochs, 1, 1);
  epochs.end(old, true);
  EXPECT_TRUE(epochs.writes_outstanding(1));
  EXPECT_EQ(epochs.mark(1), 1u);
}

TEST(Epochs, the_first_flush_of_an_exclusive_epoch_goes_down) {
  Epochs epochs(ranks);
  epochs.lock(1, true);
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(1)));
  synchronise(epochs, Targets::one(1), false, false);
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(1)));
  synchronise(epochs, Targets::one(1));
  EXPECT_TRUE(epochs.flush_is_empty(Targets::one(1)));
  epochs.unlock(1);
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(1)));
  epochs.lock(1, false);
  EXPECT_TRUE(epochs.flush_is_empty(Targets::one(1)));
  epochs.unlock(1);
  epochs.lock(1, true);
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(1)));
}

TEST(Epochs, a_lock_or_a_start_after_a_fence_says_that_it_opened_no_epoch) {
  Epochs epochs(ranks);
  epochs.fence(true);
  EXPECT_TRUE(epochs.open(0) && epochs.open(3));
  epochs.lock(1, false);
  EXPECT_TRUE(epochs.open(1));
  EXPECT_FALSE(epochs.open(0));
  epochs.unlock(1);
  EXPECT_FALSE(epochs.open(1));
  epochs.fence(true);
  epochs.start(std::vector<int>{2, 3});
  EXPECT_TRUE(epochs.open(2) && epochs.open(3));
  EXPECT_FALSE(epochs.open(0));
  EXPECT_FALSE(epochs.flush_is_empty(Targets::one(2)));  // a flush is no call of such an epoch
  epochs.complete();
  EXPECT_FALSE(epochs.open(2));
}

TEST(Epochs, after_calls_that_were_not_noted_anything_may_be_outstanding) {
  Epochs epochs(ranks);
  epochs.lock_all();
  epochs.all_outstanding(true);
  for (uint32_t target = 0; target < ranks; ++target) {
    EXPECT_TRUE(epochs.outstanding(target) && epochs.writes_outstanding(target));
    EXPECT_FALSE(epochs.gets_noted(target));
    EXPECT_EQ(epochs.mark(target), Epochs::no_mark);
  }
  EXPECT_TRUE(epochs.some_writes_outstanding());
  synchronise(epochs, all);
  EXPECT_TRUE(epochs.flush_is_empty(all));
  EXPECT_FALSE(epochs.some_writes_outstanding());
}

TEST(Epochs, a_synchronisation_makes_its_target_known_again_if_it_began_after_what_was_not_noted) {
  Epochs epochs(ranks);
  epochs.lock_all();
  const Epochs::Sync before = epochs.begin(all, false, Epochs::no_mark);
  epochs.all_outstanding(true);
  epochs.end(before, true);
  EXPECT_FALSE(epochs.quiet() || epochs.flush_is_empty(all) ||
               epochs.flush_is_empty(Targets::one(1)));
  const Epochs::Sync failed = epochs.begin(Targets::one(1), false, Epochs::no_mark),
                     local = epochs.begin(Targets::one(2), true, Epochs::no_mark);
  epochs.end(failed, false);
  epochs.end(local, true);
  EXPECT_TRUE(epochs.outstanding(1) && epochs.writes_outstanding(2));
  synchronise(epochs, Targets::one(1));
  EXPECT_TRUE(epochs.flush_is_empty(Targets::one(1)));
  EXPECT_FALSE(epochs.outstanding(1) || epochs.flush_is_empty(Targets::one(2)) ||
               epochs.flush_is_empty(all) || epochs.quiet());
  epochs.all_outstanding(true);
  EXPECT_TRUE(epochs.outstanding(1));
  synchronise(epochs, all);
  EXPECT_TRUE(epochs.quiet());
}

}  // namespace TEST_FILE
}  // namespace nearcache
