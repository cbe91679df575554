// The engine's locks, lock_all and flushes, on a network that delays and reorders batches.
#include "rma_job.h"

#include <algorithm>
#include <random>

#include "rma/engine.h"
#include "without_calls.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;
using test::Memories;

// Reads, adds and writes back under an exclusive lock; readers see both words equal.
TEST(Rma, TheOwnLockIsTakenWithoutMessagesAndExcludesAllTheSame) {
  Job job(2, 1);
  const auto locks_own = [&] {
    job.window(0).lock(0, LockType::exclusive, false);
    return job.window(0).lock_now(0);
  };
  EXPECT_EQ(locks_own(), 0u);
  uint64_t word = 5;
  job.window(1).lock(0, LockType::exclusive, false);
  ASSERT_TRUE(job.get(1, 0, 0, &word));
  const Mark mark = job.window(1).flush(0);
  EXPECT_FALSE(job.run([&] { return job.window(1).reached(0, mark); }));
  job.word(0, 0) = 7;
  EXPECT_EQ(job.window(0).unlock(0), 0u);
  EXPECT_TRUE(job.run([&] { return job.window(1).reached(0, mark); }));
  EXPECT_EQ(word, 7u);
  const Mark own = locks_own();
  EXPECT_FALSE(job.run([&] { return job.window(0).reached(0, own); }));
  EXPECT_TRUE(job.unlock(1, 0));
  EXPECT_TRUE(job.run([&] { return job.window(0).reached(0, own); }));
}

// Locks of rank 0, taken by ranks of its node and others.
class LocksOfNodes : public testing::TestWithParam<std::pair<int, Memories>> {};

TEST_P(LocksOfNodes, ExcludeAndAreGrantedInTurn) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    constexpr int ranks = 6;
    Job job(ranks, seed, 64, GetParam().first, GetParam().second);
    struct Rank {
      int state = 0, left = 10;
      bool writes = true;
      uint64_t words[2] = {};
      Mark mark = 0;
    } all[ranks];
    std::mt19937 random(static_cast<unsigned>(seed));
    uint64_t writes = 0;
    const auto act = [&](int number) {
      Rank& rank = all[number];
      Window& window = job.window(number);
      if (rank.left == 0) return;
      if (rank.state == 0) {
        rank.writes = random() % 3 != 0;
        window.lock(0, rank.writes ? LockType::exclusive : LockType::shared, false);
        job.get(number, 0, 0, &rank.words);
        rank.mark = window.flush(0);
        rank.state = 1;
      } else if (rank.state == 1 && window.reached(0, rank.mark)) {
        ASSERT_EQ(rank.words[0], rank.words[1]);
        if (rank.writes) {
          writes += rank.words[0] + 1 - rank.words[0];
          for (uint64_t& word : rank.words) ++word;
          job.put(number, 0, 0, rank.words[0]);
          job.put(number, 0, 1, rank.words[1]);
        }
        rank.mark = window.unlock(0);
        rank.state = 2;
      } else if (rank.state == 2 && window.reached(0, rank.mark)) {
        rank.state = 0;
        --rank.left;
      }
    };
    for (bool busy = true; busy;) {
      act(static_cast<int>(random() % ranks));
      job.step();
      job.engines[0]->poll();
      job.engines[random() % ranks]->poll();
      busy = std::ranges::any_of(all, [](const Rank& rank) { return rank.left > 0; });
    }
    EXPECT_EQ(job.word(0, 0), writes);
    EXPECT_EQ(job.word(0, 1), writes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LocksOfNodes,
                         testing::Values(std::pair(1, Memories::arena),
                                         std::pair(3, Memories::arena),
                                         std::pair(6, Memories::arena),
                                         std::pair(3, Memories::process),
                                         std::pair(3, Memories::refused)));

TEST(Rma, AFlushTakesALockThatHadNoOperationYet) {
  Job job(3, 8);
  job.window(0).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.flush(0, 2));
  uint64_t old = 0;
  job.window(1).lock(2, LockType::shared, false);
  job.fetch_add(1, 2, 0, 5, &old);
  ASSERT_FALSE(job.flush(1, 2));
  ASSERT_TRUE(job.unlock(0, 2));
  ASSERT_TRUE(job.unlock(1, 2));
  EXPECT_EQ(job.word(2, 0), 5u);
}

// As another thread issues it, which may then wait for the one that flushes.
TEST(Rma, AFlushOfAllDoesNotWaitForWhatIsIssuedMeanwhile) {
  for (const int on_node : {1, 2}) {
    Job job(2, 1, 64, on_node, Memories::refused);
    job.window(0).lock_all(false);
    ASSERT_TRUE(job.put(0, 1, 0, uint64_t{5}));
    job.window(0).flush_all();
    ASSERT_TRUE(job.put(0, 1, 1, uint64_t{6}));
    EXPECT_TRUE(job.run([&] { return job.window(0).all_reached(); }));
    EXPECT_EQ(job.word(1, 0), 5u);
    ASSERT_TRUE(job.flush(0, 1));
    EXPECT_EQ(job.word(1, 1), 6u);
  }
}

TEST(Rma, LockAllKeepsExclusiveLocksOut) {
  Job job(3, 9);
  job.window(0).lock_all(false);
  uint64_t got = 0, old = 0;
  job.get(0, 2, 0, &got);
  ASSERT_TRUE(job.flush(0, 2));
  job.window(1).lock(2, LockType::exclusive, false);
  job.fetch_add(1, 2, 0, 5, &old);
  job.window(1).flush(2);
  ASSERT_FALSE(job.flush(1, 2));  // waits for the lock
  EXPECT_EQ(job.word(2, 0), 0u);
  job.window(0).unlock_all();
  ASSERT_TRUE(job.run([&] { return job.window(0).all_reached(); }));
  ASSERT_TRUE(job.unlock(1, 2));
  EXPECT_EQ(job.word(2, 0), 5u);
}

// Each has a lock that a writer waits for, and then asks for the one behind the other's writer.
TEST(Rma, EpochsThatLockAllDoNotWaitForEachOtherBehindThoseThatWait) {
  for (const int on_node : {1, 2, 4}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Job job(4, seed, 64, on_node);
      uint64_t value = 0;
      const auto reads = [&](int reader, int target) {
        return job.get(reader, target, 0, &value) && job.flush(reader, target);
      };
      job.window(1).lock_all(false);
      job.window(3).lock_all(false);
      ASSERT_TRUE(reads(1, 0));
      ASSERT_TRUE(reads(3, 2));
      std::vector<Mark> marks;
      for (const int writer : {0, 2}) {
        job.window(writer).lock(writer, LockType::exclusive, false);
        marks.push_back(job.window(writer).lock_now(writer));
        job.run([] { return false; });
        EXPECT_FALSE(job.window(writer).reached(writer, marks.back()));
      }
      ASSERT_TRUE(reads(1, 2)) << on_node;
      ASSERT_TRUE(reads(3, 0)) << on_node;
      for (const int reader : {1, 3}) {
        job.window(reader).unlock_all();
        ASSERT_TRUE(job.run([&] { return job.window(reader).all_reached(); }));
      }
      for (const int writer : {0, 2}) {
        const Mark mark = marks[static_cast<size_t>(writer / 2)];
        ASSERT_TRUE(job.run([&] { return job.window(writer).reached(writer, mark); }));
        ASSERT_TRUE(job.unlock(writer, writer));
      }
    }
  }
}

// Also those that had to wait because somebody was writing.
TEST(Rma, EpochsThatLockAllShareALockAlthoughAWriterHasComeBetween) {
  for (const int on_node : {1, 2, 4}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Job job(4, seed, 64, on_node);
      uint64_t value = 0;
      job.window(0).lock(0, LockType::exclusive, false);
      job.window(0).lock_now(0);
      job.run([] { return false; });
      std::vector<Mark> marks(4, 0);
      for (const int rank : {1, 2, 3}) {
        if (rank == 2) {
          job.window(rank).lock(0, LockType::exclusive, false);
        } else {
          job.window(rank).lock_all(false);
          ASSERT_TRUE(job.get(rank, 4 - rank, 0, &value) && job.flush(rank, 4 - rank));
        }
        ASSERT_TRUE(job.get(rank, 0, 0, &value));
        marks[static_cast<size_t>(rank)] = job.window(rank).flush(0);
        job.run([] { return false; });
        EXPECT_FALSE(job.window(rank).reached(0, marks[static_cast<size_t>(rank)]));
      }
      ASSERT_TRUE(job.unlock(0, 0));
      for (const int rank : {3, 1}) {
        const Mark mark = marks[static_cast<size_t>(rank)];
        ASSERT_TRUE(job.run([&] { return job.window(rank).reached(0, mark); })) << on_node;
        EXPECT_FALSE(job.window(2).reached(0, marks[2]));
      }
      for (const int rank : {1, 3}) {
        job.window(rank).unlock_all();
        ASSERT_TRUE(job.run([&] { return job.window(rank).all_reached(); }));
      }
      ASSERT_TRUE(job.run([&] { return job.window(2).reached(0, marks[2]); }));
      ASSERT_TRUE(job.unlock(2, 0));
    }
  }
}

// Otherwise epochs that follow each other could keep a writer out for good.
TEST(Rma, AnEpochThatHasNoLockYetWaitsBehindAWriter) {
  for (const int on_node : {1, 2, 4}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Job job(4, seed, 64, on_node);
      uint64_t value = 0;
      job.window(1).lock_all(false);
      ASSERT_TRUE(job.get(1, 0, 0, &value) && job.flush(1, 0));
      job.window(2).lock(0, LockType::exclusive, false);
      ASSERT_TRUE(job.get(2, 0, 0, &value));
      const Mark writes = job.window(2).flush(0);
      job.run([] { return false; });
      job.window(3).lock_all(false);
      ASSERT_TRUE(job.get(3, 0, 0, &value));
      const Mark reads = job.window(3).flush(0);
      job.run([] { return false; });
      EXPECT_FALSE(job.window(3).reached(0, reads)) << on_node;
      job.window(1).unlock_all();
      ASSERT_TRUE(job.run([&] { return job.window(2).reached(0, writes); }));
      EXPECT_FALSE(job.window(3).reached(0, reads)) << on_node;
      ASSERT_TRUE(job.unlock(2, 0));
      ASSERT_TRUE(job.run([&] { return job.window(3).reached(0, reads); }));
    }
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
