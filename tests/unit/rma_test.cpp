// The engine's operations and synchronisation, on a network that delays and reorders batches:
// results, errors, and how many batches each call costs.
#include "rma_job.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <random>

#include "rma/engine.h"
#include "rma/execute_there.h"
#include "without_calls.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;
using test::Memories;
using test::Network;

TEST(Rma, PutsGetsAndAccumulatesOfEverySizeAndDirection) {
  Job job(3, 1, 40000);
  std::mt19937_64 random(5);
  std::vector<uint64_t> data(35000), back(35000);
  for (uint64_t& each : data) each = random();
  for (const size_t words : {size_t{1}, size_t{7}, size_t{8192}, size_t{8193}, size_t{35000}}) {
    for (const int target : {0, 1}) {
      ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                                .target = target,
                                .displacement = 11,
                                .length = words * 8,
                                .data = Job::bytes(data[0])}));
      ASSERT_TRUE(job.issue(0, {.kind = Kind::accumulate,
                                .target = target,
                                .displacement = 11,
                                .length = words * 8,
                                .data = Job::bytes(data[0]),
                                .element = Element::uint64,
                                .operation = Operation::sum}));
      std::ranges::fill(back, 0);
      ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                                .target = target,
                                .displacement = 11,
                                .length = words * 8,
                                .result = reinterpret_cast<std::byte*>(back.data())}));
      ASSERT_TRUE(job.flush(0, target));
      for (size_t i = 0; i < words; ++i) ASSERT_EQ(back[i], 2 * data[i]);
      EXPECT_EQ(job.window(0).take_error(target), Status::ok);
    }
  }
}

TEST(Rma, PiecesOfMemoryAreWrittenReadAndAccumulatedInTheirOrder) {
  Job job(2, 2);
  const std::vector<Piece> pieces{{24, 8}, {0, 16}, {-8, 8}};
  const std::vector<uint64_t> data{1, 2, 3, 4};
  std::vector<uint64_t> back(4);
  ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                            .target = 1,
                            .displacement = 10,
                            .length = 32,
                            .pieces = pieces,
                            .data = Job::bytes(data[0])}));
  ASSERT_TRUE(job.issue(0, {.kind = Kind::fetch,
                            .target = 1,
                            .displacement = 10,
                            .length = 32,
                            .pieces = pieces,
                            .data = Job::bytes(data[0]),
                            .result = reinterpret_cast<std::byte*>(back.data()),
                            .element = Element::int64,
                            .operation = Operation::product}));
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(back, data);
  EXPECT_EQ(job.word(1, 13), 1u);
  EXPECT_EQ(job.word(1, 10), 4u);
  EXPECT_EQ(job.word(1, 11), 9u);
  EXPECT_EQ(job.word(1, 9), 16u);
}

TEST(Rma, ManyPiecesGoInSeveralMessages) {
  Job job(2, 3, 40000);
  std::vector<Piece> pieces;
  std::vector<uint64_t> data, back(15000);
  for (int64_t i = 0; i < 5000; ++i) {
    pieces.push_back({i * 64, 24});
    for (uint64_t k = 0; k < 3; ++k) data.push_back(static_cast<uint64_t>(i) * 3 + k);
  }
  ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                            .target = 1,
                            .displacement = 0,
                            .length = 120000,
                            .pieces = pieces,
                            .data = Job::bytes(data[0])}));
  ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .displacement = 0,
                            .length = 120000,
                            .pieces = pieces,
                            .result = reinterpret_cast<std::byte*>(back.data())}));
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(back, data);
  for (size_t i = 0; i < 40000; ++i) ASSERT_EQ(job.word(1, i), i % 8 < 3 ? i / 8 * 3 + i % 8 : 0);
}

// Blocks of `words` words each, one every `stride` words.
struct Strided {
  std::vector<Piece> blocks;
  ElementLayout layout;
  Strided(uint64_t number, uint64_t count, uint64_t words, int64_t stride) {
    for (uint64_t i = 0; i < count; ++i)
      blocks.push_back({static_cast<int64_t>(i) * stride * 8, words * 8});
    layout = {number,
              count * words * 8,
              static_cast<int64_t>(count) * stride * 8,
              count,
              this,
              [](const void* of, uint64_t which) {
                return static_cast<const Strided*>(of)->blocks[which];
              }};
  }
};

Transfer by_layout(Kind kind, const Strided& type, uint64_t elements, std::vector<uint64_t>* words,
                   Operation operation = Operation::replace) {
  Transfer transfer{.kind = kind,
                    .target = 1,
                    .length = elements * type.layout.size,
                    .layout = type.layout,
                    .element = Element::uint64,
                    .operation = operation};
  auto* memory = reinterpret_cast<std::byte*>(words->data());
  if (kind == Kind::get) {
    transfer.result = memory;
  } else {
    transfer.data = memory;
  }
  return transfer;
}

TEST(Rma, ALayoutIsToldOnceAndThenGoesByItsNumber) {
  Job job(2, 20, 60000);
  const Strided type(7, 5000, 2, 3);
  std::vector<uint64_t> data(30000), back(30000);
  std::iota(data.begin(), data.end(), 1);
  const auto cost = [&](auto action) {
    const uint64_t before = job.network.bytes();
    action();
    EXPECT_TRUE(job.flush(0, 1));
    return job.network.bytes() - before;
  };
  const auto put = [&] { ASSERT_TRUE(job.issue(0, by_layout(Kind::put, type, 3, &data))); };
  const uint64_t first = cost(put), second = cost(put);
  EXPECT_GT(first, 3 * 80000u + 5000 * sizeof(Piece));
  EXPECT_LT(second, 3 * 80000u + 1000);
  for (size_t i = 0; i < 45000; ++i)
    ASSERT_EQ(job.word(1, i), i % 3 == 2 ? 0 : i / 3 * 2 + i % 3 + 1) << i;
  cost([&] { job.issue(0, by_layout(Kind::accumulate, type, 2, &data, Operation::sum)); });
  EXPECT_LT(cost([&] { job.issue(0, by_layout(Kind::get, type, 3, &back)); }), 3 * 80000u + 2000);
  for (size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(back[i], i < 20000 ? 2 * data[i] : data[i]) << i;
  // Data that are not entirely within the window are refused.
  data.resize(50000);
  job.issue(0, by_layout(Kind::put, type, 5, &data));
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range);
}

// A target keeps a bounded number of layouts: others are withdrawn, and what is too large is sent
// as runs.
TEST(Rma, LayoutsThatDoNotFitTakeThePlaceOfOthersOrGoAsRuns) {
  const int ranks = 1024;  // each may have 4,096 blocks at another
  Job job(ranks, 21, 30000);
  std::vector<uint64_t> data(20000, 5), back(20000);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t number = 1; number <= 4; ++number) {
      const Strided type(number, 1500 + number, 1, 2);
      std::iota(data.begin(), data.end(), number * 1000 + static_cast<uint64_t>(round));
      ASSERT_TRUE(job.issue(0, by_layout(Kind::put, type, 2, &data)));
      ASSERT_TRUE(job.issue(0, by_layout(Kind::get, type, 2, &back)));
      ASSERT_TRUE(job.flush(0, 1));
      ASSERT_TRUE(std::equal(back.begin(), back.begin() + 2 * static_cast<long>(1500 + number),
                             data.begin()));
    }
  }
  const Strided large(9, 9000, 1, 3);
  ASSERT_TRUE(job.issue(0, by_layout(Kind::put, large, 1, &data)));
  ASSERT_TRUE(job.flush(0, 1));
  for (size_t i = 0; i < 9000; ++i) ASSERT_EQ(job.word(1, 3 * i), data[i]);
  EXPECT_EQ(job.window(0).take_error(1), Status::ok);
}

// Or else each operation of a program that always makes new datatypes takes longer than the last.
TEST(Rma, LayoutsThatAreNotUsedAgainAreWithdrawn) {
  SentLayouts sent;
  std::vector<uint64_t> withdrawn;
  const auto use = [&](uint64_t number) {
    return sent.use({.number = number, .blocks = 8}, layout_share(2), &withdrawn);
  };
  SentLayouts::Sent* const first = use(1);
  for (uint64_t number = 2; number <= 10000; ++number) {
    SentLayouts::Sent* const next = use(number);
    ASSERT_NE(next, nullptr);
    --next->users;
  }
  EXPECT_EQ(withdrawn.size(), 10000 - SentLayouts::most);
  EXPECT_EQ(withdrawn.front(), 2u);
  EXPECT_EQ(use(1), first);  // whose user was there all the time
  // Nor if there are users of all of them.
  for (uint64_t number = 20001; number < 20000 + SentLayouts::most; ++number)
    EXPECT_NE(use(number), nullptr);
  EXPECT_EQ(use(30000), nullptr);
}

// The layout is sent and used behind a lock that another rank holds, and withdrawn before the lock
// is granted: waiting operations must keep the layout that they meant.
TEST(Rma, LayoutsKeepTheirMeaningBehindALock) {
  Job job(1024, 22, 30000);
  std::vector<uint64_t> data(6000);
  std::iota(data.begin(), data.end(), 1);
  job.window(1).lock(1, LockType::exclusive, false);
  const Mark mark = job.window(1).lock_now(1);
  ASSERT_TRUE(job.run([&] { return job.window(1).reached(1, mark); }));
  job.window(0).lock(1, LockType::shared, false);
  const Strided sparse(1, 3000, 1, 4), dense(2, 2000, 2, 3);
  ASSERT_TRUE(job.issue(0, by_layout(Kind::put, sparse, 1, &data)));
  ASSERT_TRUE(job.issue(0, by_layout(Kind::accumulate, dense, 1, &data, Operation::sum)));
  job.window(0).flush_local(1);
  while (job.step()) {
  }
  EXPECT_EQ(job.word(1, 0), 0u);
  ASSERT_TRUE(job.unlock(1, 1));
  ASSERT_TRUE(job.unlock(0, 1));
  for (size_t i = 0; i < 12000; ++i) {
    const uint64_t put = i % 4 == 0 ? i / 4 + 1 : 0,
                   added = i < 6000 && i % 3 < 2 ? i / 3 * 2 + i % 3 + 1 : 0;
    ASSERT_EQ(job.word(1, i), put + added) << i;
  }
}

TEST(Rma, CompareAndSwapOfEveryWidth) {
  Job job(2, 4);
  for (const size_t width : {1u, 2u, 4u, 8u, 16u}) {
    std::byte both[32], old[16];
    for (const bool matches : {false, true}) {
      auto* at = reinterpret_cast<std::byte*>(&job.word(1, 4));
      std::memset(at, 7, 16);
      std::memset(both, 9, width);
      std::memset(both + width, matches ? 7 : 8, width);
      ASSERT_TRUE(job.issue(0, {.kind = Kind::compare_and_swap,
                                .target = 1,
                                .displacement = 4,
                                .length = width,
                                .data = both,
                                .result = old}));
      ASSERT_TRUE(job.flush(0, 1));
      EXPECT_EQ(old[width - 1], std::byte{7});
      for (size_t i = 0; i < 16; ++i)
        EXPECT_EQ(at[i], matches && i < width ? std::byte{9} : std::byte{7});
    }
  }
}

TEST(Rma, PutsOfFewBytesTakeNoHeadEach) {
  BatchWriter batch;
  const auto put = [&](uint64_t window, bool odd, int64_t at, uint64_t length) {
    std::memset(batch.append_few(window, odd, at, length), static_cast<int>(at), length);
  };
  put(1, false, 1, 8), put(1, false, 2, 8), put(1, false, 3, 8);
  EXPECT_EQ(batch.bytes().size(), sizeof(Head) + size_t{3 * 16});
  put(1, false, 4, 5), put(1, false, 5, 5);                // another length
  put(2, false, 6, 5), put(2, true, 7, 5);                 // another window, another epoch
  batch.append({.kind = Kind::acknowledge, .window = 2});  // something between
  put(2, true, 8, 5);
  std::vector<uint64_t> counts;
  int64_t next = 1;
  BatchReader reader(batch.bytes());
  for (Message message; reader.next(&message);) {
    if (message.head.kind != Kind::puts) continue;
    counts.push_back(message.head.offset);
    for (auto data = message.data; !data.empty();
         data = data.subspan(bytes_of_few(message.head.length)), ++next) {
      int64_t at;
      std::memcpy(&at, data.data(), sizeof at);
      EXPECT_EQ(at, next);
      EXPECT_EQ(data[8 + message.head.length - 1], static_cast<std::byte>(next));
    }
  }
  EXPECT_FALSE(reader.malformed());
  EXPECT_EQ(counts, (std::vector<uint64_t>{3, 2, 1, 1, 1}));
  batch.clear();  // what was there is not added to
  put(2, true, 9, 5);
  EXPECT_EQ(batch.bytes().size(), sizeof(Head) + 16);
}

TEST(Rma, PutsOfFewBytesOfEveryLengthArriveInOrder) {
  for (const int on_node : {1, 2}) {
    Job job(2, 4, 64, on_node);
    std::vector<uint64_t> expected(64);
    uint64_t value[16];
    bool few = false;
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t length = i / 7 % 72, at = i % 50;
      std::ranges::fill(value, i * 0x0101010101010101);
      const bool taken = job.window(0).put_few(1, static_cast<int64_t>(at), value, length);
      EXPECT_FALSE(taken && (length == 0 || length > most_of_few || on_node == 2)) << length;
      few = few || taken;
      if (!taken) {
        ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                                  .target = 1,
                                  .displacement = static_cast<int64_t>(at),
                                  .length = length,
                                  .data = Job::bytes(value[0])}));
      }
      std::memcpy(&expected[at], value, length);
      if (i % 100 == 0) job.step();
    }
    EXPECT_EQ(few, on_node == 1);
    ASSERT_TRUE(job.flush(0, 1));
    EXPECT_TRUE(std::ranges::equal(job.memory[1], expected));
    EXPECT_EQ(job.window(0).take_error(1), Status::ok);
  }
}

TEST(Rma, PutsOfFewBytesWaitForTheLockAndForRoom) {
  Job job(3, 4);
  const uint64_t value = 5;
  EXPECT_FALSE(job.window(0).put_few(1, 0, &value, 8));  // nothing went there yet
  job.window(0).lock(1, LockType::exclusive, false);
  EXPECT_FALSE(job.window(0).put_few(1, 0, &value, 8));  // the lock must go first
  ASSERT_TRUE(job.put(0, 1, 0, value));
  EXPECT_TRUE(job.window(0).put_few(1, 1, &value, 8));
  ASSERT_TRUE(job.flush(0, 1));
  job.window(2).lock(1, LockType::exclusive, false);
  ASSERT_TRUE(job.put(2, 1, 2, value));
  uint64_t puts = 0;  // behind a lock that is not free, until the room is used up
  while (job.window(2).put_few(1, 3, &value, 8)) ASSERT_LT(++puts, uint64_t{1} << 20);
  EXPECT_TRUE(job.window(2).crowded(1));
  while (job.step()) continue;
  EXPECT_EQ(job.word(1, 3), 0u);
  ASSERT_TRUE(job.unlock(0, 1));
  ASSERT_TRUE(job.unlock(2, 1));
  EXPECT_EQ(job.word(1, 3), value);
}

// No rank requests one of nothing, but a broken one may (fuzz_rma).
TEST(Rma, CompareAndSwapOfMoreThanAnElementIsRefused) {
  Job job(2, 1);
  std::byte both[64]{}, old[32];
  job.issue(
      0, {.kind = Kind::compare_and_swap, .target = 1, .length = 17, .data = both, .result = old});
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.window(0).take_error(1), Status::bad_operation);
}

TEST(Rma, EveryRankAddsAtomically) {
  for (const int ranks : {2, 7, 64}) {
    Job job(ranks, static_cast<uint64_t>(ranks));
    std::vector<std::vector<uint64_t>> seen(static_cast<size_t>(ranks), std::vector<uint64_t>(20));
    for (size_t i = 0; i < 20; ++i) {
      for (int rank = 0; rank < ranks; ++rank) {
        job.fetch_add(rank, 0, 3, 1, &seen[static_cast<size_t>(rank)][i]);
        job.window(rank).flush(0);
        job.step();
      }
    }
    for (int rank = 0; rank < ranks; ++rank) ASSERT_TRUE(job.flush(rank, 0));
    std::vector<uint64_t> all;
    for (const auto& each : seen) all.insert(all.end(), each.begin(), each.end());
    std::ranges::sort(all);
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  }
}

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

TEST(Rma, AFenceHasExecutedAllOfEveryRank) {
  for (const int ranks : {1, 2, 3, 8, 13, 64}) {
    Job job(ranks, static_cast<uint64_t>(ranks));
    std::mt19937 random(3);
    std::vector<uint64_t> expected(static_cast<size_t>(ranks));
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 4 * ranks; ++i) {
        const int origin = static_cast<int>(random() % static_cast<unsigned>(ranks)),
                  target = static_cast<int>(random() % static_cast<unsigned>(ranks));
        job.add(origin, target, 0, i);
        expected[static_cast<size_t>(target)] += static_cast<uint64_t>(i);
      }
      ASSERT_TRUE(job.fence());
      for (int rank = 0; rank < ranks; ++rank)
        ASSERT_EQ(job.word(rank, 0), expected[static_cast<size_t>(rank)]);
    }
  }
}

// A rank that has left a fence may be in the next one before others have left; its operations must
// not be mistaken for theirs.
TEST(Rma, RanksMayBeOneFenceAhead) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    constexpr int ranks = 5, rounds = 8;
    Job job(ranks, seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    int entered[ranks] = {};
    bool inside[ranks] = {};
    std::deque<uint64_t> seen;  // by ranks that have left a fence, at ranks that may not have
    for (bool busy = true; busy;) {
      const int rank = static_cast<int>(random() % ranks);
      if (inside[rank] && job.window(rank).fence_met()) {
        inside[rank] = false;
        // All ranks have entered this fence, and their additions from before it have arrived.
        ASSERT_EQ(job.word(rank, static_cast<size_t>(entered[rank] - 1)),
                  static_cast<uint64_t>(ranks));
        for (int target = 0; target < ranks; ++target)
          job.get(rank, target, entered[rank] - 1, &seen.emplace_back());
        job.window(rank).flush((rank + 1) % ranks);
        ASSERT_TRUE(std::ranges::all_of(entered, [&](int each) { return each >= entered[rank]; }));
      } else if (!inside[rank] && entered[rank] < rounds) {
        for (int target = 0; target < ranks; ++target) job.add(rank, target, entered[rank], 1);
        ++entered[rank];
        inside[rank] = true;
        job.window(rank).fence_enter();
      }
      job.step();
      job.engines[static_cast<size_t>(rank)]->poll();
      busy = std::ranges::any_of(inside, [](bool each) { return each; }) ||
             std::ranges::any_of(entered, [](int each) { return each < rounds; });
    }
    ASSERT_TRUE(job.fence());
    for (const uint64_t each : seen) ASSERT_EQ(each, static_cast<uint64_t>(ranks));
  }
}

TEST(Rma, PostStartCompleteWaitOnARing) {
  for (const int ranks : {1, 2, 3, 9}) {
    Job job(ranks, static_cast<uint64_t>(ranks));
    for (uint64_t round = 1; round < 6; ++round) {
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int> before{(rank + ranks - 1) % ranks};
        job.window(rank).post(before);
      }
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int> after{(rank + 1) % ranks};
        ASSERT_TRUE(job.run([&] { return job.window(rank).started(after); }));
        if (ranks == 1) EXPECT_FALSE(job.window(rank).started(after));  // the post is consumed
        job.put(rank, after[0], 2, round * 100 + static_cast<uint64_t>(rank));
        job.window(rank).complete(after);
      }
      for (int rank = 0; rank < ranks; ++rank) {
        ASSERT_TRUE(job.run([&] { return job.window(rank).completed_by(1); }));
        EXPECT_EQ(job.word(rank, 2),
                  round * 100 + static_cast<uint64_t>((rank + ranks - 1) % ranks));
      }
    }
  }
}

// What an origin sends waits at the target for its post, epoch by epoch.
TEST(Rma, AnAccessEpochTakesEffectWhenItsTargetHasPosted) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Job job(3, seed);
    const auto arrive = [&] {
      while (job.step()) {
      }
    };
    const int of_1[] = {1}, origins[] = {0, 2};
    uint64_t got = 0;
    for (const int origin : {0, 2}) {
      ASSERT_TRUE(job.window(origin).started(of_1));
      job.put(origin, 1, origin, uint64_t{5});
      job.window(origin).complete(of_1);
      ASSERT_TRUE(job.window(origin).started(of_1));
      job.put(origin, 1, origin, uint64_t{6});
      Transfer transfer{.kind = Kind::get,
                        .target = 1,
                        .displacement = origin,
                        .length = sizeof got,
                        .result = reinterpret_cast<std::byte*>(&got)};
      if (origin == 0) job.window(origin).issue(&transfer);
      job.window(origin).complete(of_1);
    }
    arrive();
    EXPECT_EQ(job.word(1, 0) + job.word(1, 2), 0u);
    EXPECT_FALSE(job.window(1).completed_by(1));
    for (const uint64_t value : {5, 6}) {
      EXPECT_FALSE(job.window(0).all_landed());
      job.window(1).post(origins);
      arrive();
      EXPECT_EQ(job.word(1, 0), value);
      EXPECT_EQ(job.word(1, 2), value);
      EXPECT_TRUE(job.window(1).completed_by(2));
      EXPECT_FALSE(job.window(1).completed_by(1));
    }
    EXPECT_TRUE(job.window(0).all_landed());
    EXPECT_EQ(got, 6u);
  }
}

// Nothing but its own memory would bound an origin that starts again and again.
TEST(Rma, WhoIsTooManyEpochsAheadOfTheirTargetWaits) {
  Job job(2, 3);
  const int target[] = {1}, origin[] = {0};
  uint64_t epochs = 0;
  while (job.window(0).started(target)) {
    job.window(0).complete(target);
    ASSERT_LT(++epochs, 100000u);
    if (epochs % 1000 == 0) job.step();
  }
  EXPECT_GT(epochs, 1000u);
  EXPECT_FALSE(job.engines[1]->is_lost(0));
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) job.window(1).post(origin);
  EXPECT_TRUE(job.run([&] { return job.window(1).completed_by(epochs); }));
  EXPECT_TRUE(job.run([&] { return job.window(0).started(target); }));
}

// An epoch is ahead of a fence as well as of its post.
TEST(Rma, AnAccessEpochAfterAFenceWaitsForBoth) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Job job(3, seed);
    const int target[] = {1}, origin[] = {0};
    for (int rank = 0; rank < 3; ++rank) job.window(rank).fence_enter();
    ASSERT_TRUE(job.run([&] { return job.window(0).fence_met(); }));
    ASSERT_TRUE(job.window(0).started(target));
    job.put(0, 1, 0, uint64_t{9});
    job.window(0).complete(target);
    if (seed % 2 != 0) job.window(1).post(origin);
    ASSERT_TRUE(job.run([&] { return job.window(1).fence_met(); }));
    while (job.step()) {
    }
    EXPECT_EQ(job.word(1, 0), seed % 2 != 0 ? 9u : 0u);
    if (seed % 2 == 0) job.window(1).post(origin);
    while (job.step()) {
    }
    EXPECT_EQ(job.word(1, 0), 9u);
    EXPECT_TRUE(job.window(1).completed_by(1));
  }
}

// The target may learn of the loss, and then never post.
TEST(Rma, WhatWaitsForAPostIsRefusedWhenAMemberIsGone) {
  Job job(3, 1);
  const int target[] = {1};
  uint64_t got = 1;
  job.word(1, 0) = 5;
  ASSERT_TRUE(job.window(0).started(target));
  Transfer transfer{.kind = Kind::get,
                    .target = 1,
                    .length = sizeof got,
                    .result = reinterpret_cast<std::byte*>(&got)};
  job.window(0).issue(&transfer);
  ASSERT_TRUE(job.put(0, 1, 0, uint64_t{6}));
  job.window(0).complete(target);
  while (job.step()) {
  }
  EXPECT_FALSE(job.window(0).all_landed());
  job.network.kill(2);
  EXPECT_TRUE(job.run([&] { return job.window(0).all_landed(); }));
  while (job.step()) {
  }
  EXPECT_EQ(job.word(1, 0), 5u);
  EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
  // So is an epoch that begins later, but not what follows it.
  ASSERT_TRUE(job.window(0).started(target));
  ASSERT_TRUE(job.put(0, 1, 0, uint64_t{7}));
  job.window(0).complete(target);
  job.window(0).lock(1, LockType::exclusive, false);
  ASSERT_TRUE(job.put(0, 1, 1, uint64_t{8}));
  EXPECT_TRUE(job.unlock(0, 1));
  EXPECT_EQ(job.word(1, 0), 5u);
  EXPECT_EQ(job.word(1, 1), 8u);
  EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
}

TEST(Rma, WhatIsOutsideOfTheWindowIsAnErrorOfTheNextFlushAndTouchesNothing) {
  Job job(2, 11);
  uint64_t value = 5, old = 77;
  const auto expect_range_error = [&] {
    ASSERT_TRUE(job.flush(0, 1));
    EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range);
    EXPECT_EQ(job.window(0).take_error(1), Status::ok);
    EXPECT_TRUE(std::ranges::all_of(job.memory[1], [](uint64_t word) { return word == 0; }));
  };
  for (const int64_t at : {int64_t{64}, int64_t{-1}, INT64_MAX, INT64_MIN, INT64_MAX / 8 + 1}) {
    job.put(0, 1, at, value);
    expect_range_error();
    job.get(0, 1, at, &old);
    expect_range_error();
    EXPECT_EQ(old, 77u);
    job.fetch_add(0, 1, at, value, &old);
    expect_range_error();
  }
  const std::vector<Piece> last_is_outside{{0, 8}, {8, 8}, {63 * 8 + 1, 8}};
  const uint64_t data[3] = {1, 2, 3};
  job.issue(0, {.kind = Kind::put,
                .target = 1,
                .displacement = 0,
                .length = 24,
                .pieces = last_is_outside,
                .data = Job::bytes(data)});
  expect_range_error();
}

TEST(Rma, DynamicMemoryIsReachedByAddressWhileAttached) {
  net::StubNetwork network(2, 1);
  Engine origin(&network.fabric(0)), owner(&network.fabric(1));
  Window* window = origin.open(7, Members(2), Memory::dynamic());
  Memory& memory = owner.open(7, Members(2), Memory::dynamic())->exposure().memory();
  std::vector<uint64_t> words(20);
  const auto address = [&](size_t index) { return reinterpret_cast<int64_t>(&words[index]); };
  const auto put = [&](size_t index, uint64_t value, uint64_t length = 8) {
    Transfer transfer{.kind = Kind::put,
                      .target = 1,
                      .displacement = address(index),
                      .length = length,
                      .data = Job::bytes(value)};
    window->issue(&transfer);
    const Mark mark = window->flush(1);
    while (!window->reached(1, mark)) owner.poll(), origin.poll();
    return window->take_error(1);
  };
  EXPECT_EQ(put(0, 1), Status::out_of_range);
  EXPECT_TRUE(memory.attach(&words[2], 16));
  EXPECT_FALSE(memory.attach(&words[3], 8));
  EXPECT_FALSE(memory.attach(&words[1], 16));
  EXPECT_TRUE(memory.attach(&words[4], 8));
  EXPECT_EQ(put(3, 5), Status::ok);
  EXPECT_EQ(words[3], 5u);
  EXPECT_EQ(put(1, 5), Status::out_of_range);
  EXPECT_EQ(put(5, 5), Status::out_of_range);
  EXPECT_TRUE(memory.detach(&words[2]));
  EXPECT_FALSE(memory.detach(&words[2]));
  EXPECT_EQ(put(3, 6), Status::out_of_range);
  EXPECT_EQ(put(4, 6), Status::ok);
}

TEST(Rma, ARankThatIsKilledEndsWhatWaitsForIt) {
  Job job(3, 12);
  uint64_t old = 0;
  job.window(1).lock(0, LockType::exclusive, false);
  job.fetch_add(1, 0, 0, 1, &old);
  ASSERT_TRUE(job.flush(1, 0));  // holds the lock
  job.window(2).lock(0, LockType::exclusive, false);
  job.fetch_add(2, 0, 0, 1, &old);
  ASSERT_FALSE(job.flush(2, 0));
  job.put(2, 1, 0, old);
  job.window(2).flush(1);
  job.network.kill(1);
  ASSERT_TRUE(job.run([&] { return job.window(2).broken() && job.window(0).broken(); }));
  ASSERT_TRUE(job.unlock(2, 0));  // the dead rank's lock went to the next
  EXPECT_EQ(job.window(2).take_error(1), Status::lost_peer);
  EXPECT_EQ(job.window(2).take_error(0), Status::ok);
  job.put(2, 1, 0, old);
  EXPECT_TRUE(job.flush(2, 1));
  EXPECT_EQ(job.window(2).take_error(1), Status::lost_peer);
  EXPECT_EQ(job.engines[2]->why_lost(),
            "rank 1 is gone: it was killed, or its memory is not there");
}

// A lock that it can give nobody any more: nobody waits for it, near or far.
// There may be very many of them.
TEST(Rma, OperationsThatWaitForARankAreTakenOutInOnePass) {
  PendingTable table;
  std::vector<uint64_t> tokens;
  for (uint64_t number = 0; number < 9; ++number)
    tokens.push_back(table.add({.peer = static_cast<int>(number % 3), .sequence = number}));
  size_t from = 0;
  Pending pending;
  for (uint64_t number = 1; number < 9; number += 3) {
    ASSERT_TRUE(table.take_next(1, &from, &pending));
    EXPECT_EQ(pending.sequence, number);
    EXPECT_EQ(from, number + 1);
  }
  EXPECT_FALSE(table.take_next(1, &from, &pending));
  EXPECT_EQ(from, tokens.size());
  for (size_t number = 0; number < 9; ++number)
    EXPECT_EQ(table.take(tokens[number], static_cast<int>(number % 3), &pending), number % 3 != 1);
}

TEST(Rma, AFlushOfALockOfARankThatIsGoneReturns) {
  for (const int on_node : {1, 3}) {
    Job job(3, 12, 64, on_node);
    job.network.kill(1);
    job.engines[2]->ended(1);
    ASSERT_TRUE(job.window(2).broken());
    for (const bool puts : {false, true}) {
      job.window(2).lock(1, LockType::exclusive, false);
      if (puts) job.put(2, 1, 0, uint64_t{1});
      EXPECT_TRUE(job.flush(2, 1));
      EXPECT_EQ(job.window(2).take_error(1), Status::lost_peer);
      job.window(2).flush_all();
      EXPECT_TRUE(job.run([&] { return job.window(2).all_reached(); }));
      EXPECT_TRUE(job.unlock(2, 1));
    }
  }
}

// A batch with as many puts as fit.
std::vector<std::byte> puts_for(uint64_t window) {
  BatchWriter writer;
  for (int i = 0; i < 3; ++i)
    std::memset(writer.append(Head{.kind = Kind::put, .window = window, .length = 300 << 10}), 0,
                300 << 10);
  return {writer.bytes().begin(), writer.bytes().end()};
}

// Sends such batches from rank 1 to rank 0 until rank 0 refuses more; returns how much it took, in
// MiB.
int taken_until_lost(Job* job, uint64_t window, int most) {
  for (int sent = 0; sent < most; ++sent) {
    if (job->engines[0]->is_lost(1)) return sent;
    job->network.fabric(1).send(0, puts_for(window));
    while (job->step()) {
    }
  }
  return most;
}

TEST(Rma, WhatComesForAWindowThatIsNotOpenYetIsBounded) {
  Job job(2, 16);
  job.engines[0]->begin_opening();
  job.engines[0]->begin_opening();
  const int taken = taken_until_lost(&job, 99, 100);
  EXPECT_GT(taken, 30);
  EXPECT_LT(taken, 50);
  EXPECT_EQ(job.engines[0]->why_lost(),
            "rank 1 is gone: it broke the protocol of one-sided communication");
}

TEST(Rma, WhatComesBehindALockThatIsNotFreeIsBounded) {
  Job job(2, 17);
  job.window(0).lock(0, LockType::exclusive, false);
  const Mark mark = job.window(0).lock_now(0);
  ASSERT_TRUE(job.run([&] { return job.window(0).reached(0, mark); }));
  BatchWriter lock;
  lock.append(Head{.kind = Kind::lock_shared, .window = Job::window_id});
  job.network.fabric(1).send(0, lock.bytes());
  EXPECT_LT(taken_until_lost(&job, Job::window_id, 100), 25);
}

TEST(Rma, ALockOfARankThatWasLostBeforeTheWindowWasOpenIsFree) {
  Job job(3, 18);
  job.engines[0]->begin_opening();
  BatchWriter lock;
  lock.append(Head{.kind = Kind::lock_exclusive, .window = 99});
  job.network.fabric(1).send(0, lock.bytes());
  while (job.step()) {
  }
  job.network.kill(1);
  ASSERT_TRUE(job.run([&] { return job.engines[0]->is_lost(1); }));
  std::vector<uint64_t> words(8);
  Window* here = job.engines[0]->open(99, Members(3), Memory::fixed(words.data(), 64, 8));
  Window* there = job.engines[2]->open(99, Members(3), Memory::fixed(nullptr, 0, 8));
  job.engines[0]->end_opening();
  there->lock(0, LockType::exclusive, false);
  const Mark mark = there->lock_now(0);
  EXPECT_TRUE(job.run([&] { return there->reached(0, mark); }));
  EXPECT_TRUE(here->broken());
}

// From then on its owner may compute, and its agent sleep, as nothing more arrives.
TEST(Rma, WhoAskedBeforeTheWindowWasOpenIsAnsweredWhenItIs) {
  Job job(2, 19);
  job.engines[0]->begin_opening();
  std::vector<uint64_t> words(8, 7);
  Window* there = job.engines[1]->open(99, Members(2), Memory::fixed(nullptr, 0, 8));
  uint64_t got = 0;
  Transfer get{.kind = Kind::get,
               .target = 0,
               .length = sizeof got,
               .result = reinterpret_cast<std::byte*>(&got)};
  ASSERT_TRUE(there->issue(&get));
  const Mark mark = there->flush(0);
  while (job.step()) {
  }
  job.engines[0]->open(99, Members(2), Memory::fixed(words.data(), 64, 8));
  job.engines[0]->end_opening();
  EXPECT_FALSE(job.engines[0]->holds());
  while (job.network.draw() == 1) job.engines[1]->poll();
  EXPECT_TRUE(there->reached(0, mark));
  EXPECT_EQ(got, 7);
}

// Answers still due when a window is closed: an acknowledgement that no fence waits for, and any
// other where a member was lost. Answers that arrive later are no protocol violation.
TEST(Rma, AnswersThatComeWhenTheirWindowIsClosedHarmNobody) {
  for (const Network network : {Network::messages, Network::direct}) {
    Job job(2, 20, 4096, 1, Memories::arena, network);
    std::vector<uint64_t> much(1024, 7), got(1024);
    ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                              .target = 1,
                              .length = much.size() * 8,
                              .data = reinterpret_cast<const std::byte*>(much.data())}));
    ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                              .target = 1,
                              .length = got.size() * 8,
                              .result = reinterpret_cast<std::byte*>(got.data())}));
    uint64_t old = 0;
    ASSERT_TRUE(job.fetch_add(0, 1, 0, 1, &old));
    EXPECT_NE(job.window(0).flush(1), Mark());
    job.engines[0]->push();
    job.engines[0]->close(job.windows[0]);
    while (job.step()) {
    }
    EXPECT_FALSE(job.engines[0]->is_lost(1));
    EXPECT_EQ(job.word(1, 0), 8u);
    EXPECT_EQ(got[0], 0u);
    // Once each.
    BatchWriter again;
    again.append(Head{.kind = Kind::acknowledged, .token = uint64_t{1} << 32});
    job.engines[0]->received(1, again.bytes());
    EXPECT_TRUE(job.engines[0]->is_lost(1));
  }
}

// A fence ends without it when a third rank is gone. Later requests are answered as usual.
TEST(Rma, DataThatIsGivenUpIsWrittenNowhere) {
  for (const Network network : {Network::messages, Network::direct}) {
    Job job(3, 20, 4096, 1, Memories::arena, network);
    std::ranges::fill(job.memory[1], 7);
    std::vector<uint64_t> much(1024), few(8);
    for (int time = 0; time < 2; ++time) {
      for (std::vector<uint64_t>* got : {&much, &few}) {
        ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                                  .target = 1,
                                  .length = got->size() * 8,
                                  .result = reinterpret_cast<std::byte*>(got->data())}));
      }
      if (network == Network::messages || time == 1) break;
      ASSERT_TRUE(job.flush(0, 1));  // where the memory is
      much.assign(1024, 0), few.assign(8, 0);
    }
    job.network.kill(2);
    ASSERT_TRUE(job.run([&] { return job.window(0).broken(); }));
    EXPECT_FALSE(job.window(0).all_landed());
    job.engines[0]->give_up(job.windows[0], Status::lost_peer);
    EXPECT_TRUE(job.window(0).all_landed());
    EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
    while (job.step()) {
    }
    EXPECT_EQ(much, std::vector<uint64_t>(1024));
    EXPECT_EQ(few, std::vector<uint64_t>(8));
    ASSERT_TRUE(job.get(0, 1, 0, &few[0]));
    EXPECT_TRUE(job.flush(0, 1));
    EXPECT_EQ(few[0], 7u);
    EXPECT_EQ(job.window(0).take_error(1), Status::ok);
    EXPECT_FALSE(job.engines[0]->is_lost(1));
  }
}

// What a reply implies would be wrong: a flush would return before a get, whose data would then be
// written where the program no longer expects it.
TEST(Rma, WhoAnswersBeforeItsTurnHasBrokenTheProtocolAndWritesNothing) {
  enum class Early { data, body, acknowledged, located };
  for (const Early early : {Early::data, Early::body, Early::acknowledged, Early::located}) {
    const bool direct = early == Early::located;
    Job job(2, 20, 4096, 1, Memories::arena, direct ? Network::direct : Network::messages);
    constexpr size_t words = (64 << 10) / 8;  // of a message
    std::vector<uint64_t> first(words), second(words);
    ASSERT_TRUE(job.get(0, 1, 0, first.data()));
    if (early == Early::acknowledged) {
      job.window(0).flush(1);
    } else {
      ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                                .target = 1,
                                .length = words * 8,
                                .result = reinterpret_cast<std::byte*>(second.data())}));
    }
    Head head{.kind = Kind::data, .length = words * 8, .token = uint64_t{1} << 32 | 1};
    if (early == Early::acknowledged) head.kind = Kind::acknowledged, head.length = 0;
    if (early == Early::located) head.kind = Kind::located, head.length = 0;
    BatchWriter answer;
    if (std::byte* const data = answer.append(head); head.length > 0)
      std::memset(data, 1, head.length);
    if (early == Early::body) {
      job.engines[0]->received_apart(1, answer.bytes().first(sizeof head), {}, true);
    } else {
      job.engines[0]->received(1, answer.bytes());
    }
    EXPECT_TRUE(job.engines[0]->is_lost(1));
    EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
    EXPECT_EQ(second, std::vector<uint64_t>(words));
  }
}

// No rank waits for the acknowledgement of a put: its origin may learn from others that the last
// fence is over.
TEST(Rma, AWindowIsClosedBeforeAllIsAcknowledged) {
  constexpr int ranks = 4;
  constexpr size_t words = (1 << 17) + 4096;
  std::vector<uint64_t> much(words, 7);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Job job(ranks, seed, words);
    ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                              .target = 1,
                              .length = words * 8,
                              .data = reinterpret_cast<const std::byte*>(much.data())}));
    for (Window* each : job.windows) each->fence_enter();
    int fences[ranks] = {1, 1, 1, 1}, closed = 0;
    const auto go_on = [&] {
      for (int rank = 0; rank < ranks; ++rank) {
        Window*& window = job.windows[static_cast<size_t>(rank)];
        if (window == nullptr || !window->fence_met() || !window->all_landed()) continue;
        if (fences[rank]++ == 1) {
          window->fence_enter();
        } else {
          job.engines[static_cast<size_t>(rank)]->close(std::exchange(window, nullptr));
          ++closed;
        }
      }
      return closed == ranks;
    };
    ASSERT_TRUE(job.run(go_on));
    while (job.step()) {
    }
    for (const auto& engine : job.engines) EXPECT_EQ(engine->why_lost(), "") << "seed " << seed;
    EXPECT_EQ(job.word(1, words - 1), 7u);
  }
}

// Likewise its target, before the request for the acknowledgement arrives.
TEST(Rma, AnAcknowledgementOfAWindowThatIsClosedAlreadyIsNoError) {
  Job job(2, 1);
  job.put(0, 1, 0, uint64_t{5});
  while (job.step()) {
  }
  EXPECT_EQ(job.word(1, 0), 5u);
  const Mark mark = job.window(0).flush(1);
  job.engines[1]->close(job.windows[1]);
  EXPECT_TRUE(job.run([&] { return job.window(0).reached(1, mark); }));
  EXPECT_EQ(job.window(0).take_error(), Status::ok);
  job.put(0, 1, 0, uint64_t{6});
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.window(0).take_error(), Status::no_window);
}

// The rank that learns first that a member is lost waits for nobody, and may have closed the window
// when others still arrive at its fence.
TEST(Rma, WhoEntersAFenceOfAWindowThatOthersHaveGivenUpIsNotLost) {
  Job job(3, 21);
  job.network.kill(2);
  job.put(0, 2, 0, uint64_t{1});
  ASSERT_TRUE(job.run([&] { return job.window(0).broken(); }));
  job.engines[0]->close(job.windows[0]);
  const int origins[] = {0};
  job.window(1).post(origins);
  for (int fence = 0; fence < 2; ++fence) job.window(1).fence_enter();
  job.put(1, 0, 0, uint64_t{1});
  job.window(1).flush(0);
  while (job.step()) {
  }
  EXPECT_FALSE(job.engines[0]->is_lost(1));
  EXPECT_FALSE(job.engines[1]->is_lost(0));
}

// Its fences end at once, with an error; ranks not yet notified are still in the first.
TEST(Rma, WhoIsToldFirstIsNoMoreThanOneFenceAhead) {
  Job job(4, 23);
  job.network.kill(3);
  while (!job.window(0).broken()) job.engines[0]->poll();
  for (int fence = 0; fence < 4; ++fence) job.window(0).fence_enter();
  job.window(1).fence_enter();
  while (job.step()) {
  }
  for (int rank = 0; rank < 3; ++rank) {
    for (int other = 0; other < 3; ++other)
      EXPECT_FALSE(job.engines[static_cast<size_t>(rank)]->is_lost(other)) << rank << other;
  }
}

// Ranks 3 and 5 neither wait for rank 0 nor send it anything: they wait for those that do. So in a
// fence that has begun, and when the others begin one later.
TEST(Rma, AFenceEndsAlsoForThoseToWhomTheLostRankSaysNothing) {
  const int neighbours[] = {1, 2, 4, 6, 7};
  for (const bool begun : {true, false}) {
    Job job(8, 29);
    const auto enter = [&](int first, int last) {
      for (int rank = first; rank <= last; ++rank) job.window(rank).fence_enter();
    };
    if (begun) enter(1, 7);
    while (job.step()) {
    }
    job.network.kill(0, neighbours);
    ASSERT_TRUE(job.run([&] {
      return std::ranges::all_of(neighbours, [&](int rank) { return job.window(rank).broken(); });
    }));
    if (!begun) EXPECT_FALSE(job.window(3).broken() || job.window(5).broken());
    if (!begun) enter(1, 7);
    EXPECT_TRUE(job.run([&] { return job.window(3).broken() && job.window(5).broken(); }));
    EXPECT_EQ(job.window(5).take_error(), Status::lost_peer);
    EXPECT_TRUE(job.engines[5]->why_lost().starts_with("rank 0 is gone: rank "));
    // The next one ends at once. Some close the window before others have entered that.
    enter(5, 7);
    for (const size_t rank : {5, 6, 7}) job.engines[rank]->close(job.windows[rank]);
    enter(1, 4);
    while (job.step()) {
    }
    for (int rank = 1; rank < 8; ++rank) {
      for (int other = 1; other < 8; ++other)
        EXPECT_FALSE(job.engines[static_cast<size_t>(rank)]->is_lost(other)) << rank << other;
    }
  }
}

// A member's death has left a fence open at one rank, while others have left it: what they send
// then must not wait.
TEST(Rma, AFenceThatWillNotEndHoldsUpNobody) {
  for (const bool closes : {false, true}) {
    Job job(3, 24);
    job.window(0).fence_enter();
    job.window(1).fence_enter();
    BatchWriter token;  // of rank 2, which has sent nothing to rank 0
    token.append(
        Head{.kind = Kind::fence, .window = Job::window_id, .displacement = 1, .token = 1});
    job.engines[1]->received(2, token.bytes());
    ASSERT_TRUE(job.run([&] { return job.window(1).fence_met(); }));
    uint64_t old = 9;
    job.put(1, 0, 3, uint64_t{5});
    job.fetch_add(1, 0, 3, 1, &old);
    const Mark mark = job.window(1).flush(0);
    ASSERT_FALSE(job.run([&] { return job.window(1).reached(0, mark); }));
    if (closes) {
      job.engines[0]->close(job.windows[0]);
    } else {
      job.engines[0]->lost(2, "");
    }
    EXPECT_TRUE(job.run([&] { return job.window(1).reached(0, mark); }));
    EXPECT_EQ(old, closes ? 9u : 5u);
    EXPECT_EQ(job.window(1).take_error(0), closes ? Status::no_window : Status::ok);
    job.put(1, 0, 4, uint64_t{6});
    EXPECT_TRUE(job.flush(1, 0));
    EXPECT_EQ(job.word(0, 4), closes ? 0u : 6u);
  }
}

// Its memory may still be there, but operations on it are errors.
TEST(Rma, AMemberThatIsLostBeforeItIsFoundIsNotReached) {
  for (const Memories memories : {Memories::arena, Memories::process}) {
    Job job(2, 1, 64, 2, memories);
    std::vector<Window*> opened;
    for (size_t rank = 0; rank < 2; ++rank) {
      opened.push_back(job.engines[rank]->open(Job::window_id + 1, Members(2),
                                               Memory::fixed(job.memory[rank].data(), 512, 8),
                                               job.nodes[rank].get()));
    }
    job.engines[0]->lost(1, "");
    EXPECT_TRUE(opened[0]->find_nears());
    EXPECT_TRUE(opened[0]->near(1)->reaches(Near::Reach::messages));
    EXPECT_FALSE(opened[0]->ready(1));
  }
}

TEST(Rma, WhatWaitsForALockIsAnsweredWhenItsWindowIsClosed) {
  Job job(3, 25);
  job.window(1).lock(0, LockType::exclusive, false);
  job.put(1, 0, 0, uint64_t{1});
  ASSERT_TRUE(job.flush(1, 0));
  job.window(2).lock(0, LockType::exclusive, false);
  job.put(2, 0, 0, uint64_t{2});
  const Mark mark = job.window(2).unlock(0);
  ASSERT_FALSE(job.run([&] { return job.window(2).reached(0, mark); }));
  job.engines[0]->close(job.windows[0]);
  EXPECT_TRUE(job.run([&] { return job.window(2).reached(0, mark); }));
  EXPECT_EQ(job.window(2).take_error(0), Status::no_window);
  EXPECT_EQ(job.engines[2]->why_lost(), "");
}

// Behind the lock, and then for a post. Out of turn, the answers would lose the rank that closes.
TEST(Rma, WhatWaitsForTwoThingsIsAnsweredInItsOrderWhenItsWindowIsClosed) {
  Job job(3, 25);
  uint64_t got[3] = {};
  job.window(1).lock(0, LockType::exclusive, false);
  job.get(1, 0, 0, &got[0]);
  ASSERT_TRUE(job.flush(1, 0));
  job.window(2).lock(0, LockType::exclusive, false);
  job.get(2, 0, 0, &got[1]);
  const int target[] = {0};
  ASSERT_TRUE(job.window(2).started(target));
  job.get(2, 0, 0, &got[2]);
  while (job.step()) {
  }
  job.engines[0]->close(job.windows[0]);
  EXPECT_TRUE(job.run([&] { return job.window(2).all_landed(); }));
  EXPECT_EQ(job.window(2).take_error(0), Status::no_window);
  EXPECT_EQ(job.engines[2]->why_lost(), "");
}

TEST(Rma, WhoSendsATokenOfAnotherHasBrokenTheProtocolAndNotThatOne) {
  Job job(4, 26);
  job.window(0).fence_enter();
  BatchWriter token;
  token.append(Head{.kind = Kind::fence, .window = Job::window_id, .token = 1});
  job.engines[0]->received(2, token.bytes());
  EXPECT_TRUE(job.engines[0]->is_lost(2));
  job.engines[0]->received(3, token.bytes());
  EXPECT_FALSE(job.engines[0]->is_lost(3));
}

TEST(Rma, WhoAsksForAWindowThatItIsNoMemberOfHasBrokenTheProtocol) {
  Job job(3, 27);
  std::vector<uint64_t> words(20000);
  job.engines[0]->open(99, Members(std::vector<int>{0, 1}),
                       Memory::fixed(words.data(), words.size() * 8, 8));
  for (const uint64_t length : {uint64_t{8}, uint64_t{100000}}) {
    BatchWriter put;
    std::memset(put.append(Head{.kind = Kind::put, .window = 99, .length = length}), 1, length);
    job.network.fabric(2).send(0, put.bytes());
    while (job.step()) {
    }
  }
  EXPECT_TRUE(job.engines[0]->is_lost(2));
  EXPECT_EQ(words, std::vector<uint64_t>(20000));
}

// Elements of 12 bytes that are replaced as a whole, like pairs: no message ends within one.
TEST(Rma, NoMessageOfAnAccumulateEndsWithinAnElement) {
  constexpr uint64_t elements = 20000;
  const std::vector<std::byte> data(elements * 12, std::byte{1});
  for (const std::vector<Piece>& blocks :
       {std::vector<Piece>{}, {{0, 8}, {8, 4}}, {{0, 2}, {4, 4}, {10, 6}}}) {
    for (const bool by_layout : {false, true}) {
      Job job(2, 28, elements * 4);
      Transfer transfer{.kind = Kind::accumulate,
                        .target = 1,
                        .length = data.size(),
                        .data = data.data(),
                        .grain = 12};
      std::vector<Piece> pieces;
      for (uint64_t i = 0; i < elements; ++i) {
        for (const Piece& each : blocks)
          pieces.push_back({each.offset + static_cast<int64_t>(i * 32), each.length});
      }
      if (!by_layout) {
        transfer.pieces = pieces;
      } else if (!blocks.empty()) {
        transfer.layout = {1, 12, 32, blocks.size(), &blocks, [](const void* of, uint64_t which) {
                             return (*static_cast<const std::vector<Piece>*>(of))[which];
                           }};
      }
      ASSERT_TRUE(job.issue(0, transfer));
      const Mark mark = job.window(0).flush(1);
      const auto* memory = reinterpret_cast<const std::byte*>(&job.word(1, 0));
      int steps = 0;
      ASSERT_TRUE(job.run([&] {
        const auto written = std::count(memory, memory + elements * 32, std::byte{1});
        EXPECT_EQ(written % 12, 0) << blocks.size() << by_layout;
        ++steps;
        return job.window(0).reached(1, mark);
      }));
      EXPECT_EQ(std::count(memory, memory + elements * 32, std::byte{1}),
                static_cast<int64_t>(data.size()));
      EXPECT_GT(steps, 3);
    }
  }
}

// Another process's memory, in which some rank changes what lies between the parts of pairs while
// one is being computed.
struct MeddledMemory {
  std::span<std::byte> memory;
  std::byte* gap;

  net::Reached read(std::byte* to, std::span<iovec> from, uint64_t bytes) const {
    const std::byte* const end = to + bytes;
    for (const iovec& run : from) {
      const auto* at = static_cast<const std::byte*>(run.iov_base);
      if (at + run.iov_len > memory.data() + memory.size()) return net::Reached::unmapped;
      std::memcpy(to, at, run.iov_len);
      to += run.iov_len;
    }
    EXPECT_EQ(to, end);
    *gap = std::byte{77};
    return net::Reached::all;
  }
  net::Reached write(const std::byte* from, std::span<iovec> to, uint64_t bytes) const {
    const std::byte* const end = from + bytes;
    for (const iovec& run : to) {
      std::memcpy(run.iov_base, from, run.iov_len);
      from += run.iov_len;
    }
    EXPECT_EQ(from, end);
    return net::Reached::all;
  }
};

// The most runs that the kernel takes at a time may end within an element.
TEST(Rma, OthersAreKeptOutUntilAnElementIsWhole) {
  std::vector<std::byte> there(7 * 1000), ours(7 * 999, std::byte{1});
  std::byte gap;
  Mutex mutex{};
  bool intact = true;
  const Action action{Kind::accumulate, Element::bytes, Operation::replace,
                      ours.data(),      nullptr,        21};
  int free = 0;
  const net::Reached reached = execute_there(action, MeddledMemory{there, &gap}, ours.size(),
                                             &mutex, 1, &intact, [&](auto function) {
                                               for (size_t run = 0; run < 999; ++run) {
                                                 if (run > 0 && run % most_runs == 0) {
                                                   const bool is_free = mutex.try_lock(2);
                                                   EXPECT_EQ(is_free, run % 3 == 0) << run;
                                                   if (is_free) ++free, mutex.unlock();
                                                 }
                                                 function(&there[7 * run], 7);
                                               }
                                             });
  EXPECT_EQ(reached, net::Reached::all);
  EXPECT_GT(free, 0);
  EXPECT_TRUE(mutex.try_lock(2));
  EXPECT_TRUE(std::equal(ours.begin(), ours.end(), there.begin()));
}

TEST(Rma, WhatLiesBetweenTheMembersOfPairsIsNotWritten) {
  struct Pair {
    double value;
    int index, gap;
  };
  constexpr size_t pairs = 700;
  std::vector<Pair> there(pairs, Pair{5, 1, 0}), ours(pairs, Pair{3, 2, 8});
  const std::span memory(reinterpret_cast<std::byte*>(there.data()), pairs * sizeof(Pair) - 4);
  Mutex mutex{};
  bool intact = true;
  const Action action{Kind::accumulate, Element::pair_double, Operation::minloc,
                      reinterpret_cast<const std::byte*>(ours.data()), nullptr};
  auto* const gap = reinterpret_cast<std::byte*>(&there[pairs / 2].gap);
  const net::Reached reached =
      execute_there(action, MeddledMemory{memory, gap}, pairs * sizeof(Pair), &mutex, 1, &intact,
                    [&](auto function) { function(memory.data(), pairs * sizeof(Pair)); });
  EXPECT_EQ(reached, net::Reached::all);
  for (size_t i = 0; i < pairs; ++i) {
    EXPECT_EQ(there[i].value, 3) << i;
    EXPECT_EQ(there[i].index, 2) << i;
    EXPECT_EQ(there[i].gap, i == pairs / 2 ? 77 : 0) << i;
  }
}

// No rank that follows the protocol replaces pairs as such. One that does would write the gap
// behind the last one, too.
TEST(Rma, PairsThatEndBeyondTheWindowAreNotReplaced) {
  for (const Kind kind : {Kind::accumulate, Kind::fetch}) {
    Job job(2, 22);
    std::vector<std::byte> memory(64 * 8 + 4, std::byte{7});
    job.engines[1]->open(99, Members(2), Memory::fixed(memory.data(), 64 * 8 - 4, 1));
    Window* const origin = job.engines[0]->open(99, Members(2), Memory::fixed(nullptr, 0, 1));
    std::vector<std::byte> data(64 * 8), old(64 * 8);
    for (const Operation operation : {Operation::replace, Operation::no_op}) {
      Transfer transfer{.kind = kind,
                        .target = 1,
                        .length = data.size(),
                        .data = data.data(),
                        .result = old.data(),
                        .element = Element::pair_double,
                        .operation = operation};
      ASSERT_TRUE(origin->issue(&transfer));
      const Mark mark = origin->flush(1);
      ASSERT_TRUE(job.run([&] { return origin->reached(1, mark); }));
      EXPECT_EQ(origin->take_error(1), Status::out_of_range);
      EXPECT_EQ(memory, std::vector(memory.size(), std::byte{7}));
    }
  }
}

TEST(Rma, WhoEntersAFenceOfNoWindowHasBrokenTheProtocol) {
  Job job(2, 22);
  BatchWriter batch;
  batch.append(Head{.kind = Kind::fence, .window = 99, .token = 1});
  job.engines[0]->received(1, batch.bytes());
  EXPECT_TRUE(job.engines[0]->is_lost(1));
}

TEST(Rma, CompletionsAreCalledWhenTheirResultIsThere) {
  Job job(2, 13, 20000);
  std::ranges::fill(job.memory[1], 3);
  std::vector<uint64_t> back(20000);
  int calls = 0;
  const Completion completion{[](void* context, Status status) {
                                *static_cast<int*>(context) += status == Status::ok ? 1 : 100;
                              },
                              &calls};
  ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .displacement = 0,
                            .length = 160000,
                            .result = reinterpret_cast<std::byte*>(back.data()),
                            .completion = completion}));
  EXPECT_EQ(calls, 0);
  const Mark mark = job.window(0).flush_local(1);
  ASSERT_TRUE(job.run([&] { return calls != 0; }));
  EXPECT_TRUE(job.window(0).reached(1, mark));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(std::ranges::all_of(back, [](uint64_t word) { return word == 3; }));
  job.issue(
      0,
      {.kind = Kind::get, .target = 1, .displacement = 0, .length = 0, .completion = completion});
  EXPECT_EQ(calls, 2);
  job.issue(0, {.kind = Kind::get,
                .target = 1,
                .displacement = 19999,
                .length = 16,
                .result = reinterpret_cast<std::byte*>(back.data()),
                .completion = completion});
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(calls, 102);
}

// In a node

TEST(RmaNode, NothingGoesByMessagesWhereMemoryIsShared) {
  Job job(4, 1, 64, 4);
  uint64_t old = 0, got = 0;
  job.window(0).lock_all(false);
  ASSERT_TRUE(job.put(0, 3, 5, uint64_t{40}));
  ASSERT_TRUE(job.fetch_add(0, 3, 5, 2, &old));
  ASSERT_TRUE(job.get(0, 3, 5, &got));
  EXPECT_EQ(old, 40u);
  EXPECT_EQ(got, 42u);
  EXPECT_EQ(job.word(3, 5), 42u);
  EXPECT_EQ(job.window(0).flush(3), 0u);
  job.window(0).unlock_all();
  EXPECT_TRUE(job.window(0).all_reached());
  ASSERT_TRUE(job.fence());
  const std::vector<int> origins{0}, targets{3};
  job.window(3).post(origins);
  EXPECT_TRUE(job.window(0).started(targets));
  EXPECT_FALSE(job.window(0).started(targets));
  job.window(0).complete(targets);
  EXPECT_TRUE(job.window(3).completed_by(1));
  EXPECT_FALSE(job.window(3).completed_by(1));
  EXPECT_EQ(job.network.batches(), 0u);
}

// Rank 3 is on another node: it requests the lock by messages.
TEST(RmaNode, ALockIsGrantedInTurnToThoseWhoWaitByWordsAndToTheOthers) {
  Job job(4, 2, 64, 3);
  job.window(0).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.put(0, 2, 0, uint64_t{1}));
  uint64_t far = 0, near = 0;
  job.window(3).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.fetch_add(3, 2, 0, 10, &far));
  const Mark of_far = job.window(3).flush(2);
  EXPECT_FALSE(job.run([&] { return job.window(3).reached(2, of_far); }));
  // Behind it, although the word would suffice for a shared lock after the first one.
  const uint64_t batches = job.network.batches();
  job.window(1).lock(2, LockType::shared, false);
  ASSERT_TRUE(job.get(1, 2, 0, &near));
  const Mark of_near = job.window(1).flush(2);
  EXPECT_TRUE(job.window(1).queued(2));
  EXPECT_FALSE(job.run([&] { return job.window(1).reached(2, of_near); }));
  EXPECT_EQ(job.network.batches(), batches);
  EXPECT_EQ(job.window(0).unlock(2), 0u);
  EXPECT_TRUE(job.run([&] { return job.window(3).reached(2, of_far); }));
  EXPECT_EQ(far, 1u);
  EXPECT_FALSE(job.run([&] { return job.window(1).reached(2, of_near); }));
  ASSERT_TRUE(job.unlock(3, 2));
  EXPECT_TRUE(job.run([&] { return job.window(1).reached(2, of_near); }));
  EXPECT_EQ(near, 11u);
  EXPECT_EQ(job.window(1).unlock(2), 0u);
  EXPECT_TRUE(job.window(2).own().commons->lock.try_take(LockType::exclusive));
}

// Operations issued behind a lock are executed in order when its turn comes, without messages. A
// rank that arrives between another's release of the lock and that one's look at the queue must
// tell the owner that it is its turn; the owner may compute then.
TEST(RmaNode, WhoFindsALockFreeForTheOwnerTellsItAtOnce) {
  Job job(4, 29, 64, 3);
  job.window(1).lock(0, LockType::exclusive, false);
  ASSERT_TRUE(job.put(1, 0, 0, uint64_t{1}));
  job.window(3).lock(0, LockType::exclusive, false);
  job.put(3, 0, 0, uint64_t{3});
  const Mark mark = job.window(3).unlock(0);
  ASSERT_FALSE(job.run([&] { return job.window(3).reached(0, mark); }));
  job.window(1).near(0)->give_back_lock();  // and nothing else yet
  job.window(2).lock(0, LockType::exclusive, false);
  const uint64_t before = job.network.batches();
  ASSERT_TRUE(job.put(2, 0, 0, uint64_t{2}));
  EXPECT_GT(job.network.batches(), before);
  EXPECT_TRUE(job.run([&] { return job.window(3).reached(0, mark); }));
}

TEST(RmaNode, OperationsWaitWithTheirRankForTheLock) {
  for (const Memories memories : {Memories::arena, Memories::process}) {
    Job job(3, 4, 30000, 3, memories);
    job.window(0).lock(2, LockType::exclusive, false);
    ASSERT_TRUE(job.put(0, 2, 0, uint64_t{1}));
    std::vector<uint64_t> data(6000), back(6000);
    std::iota(data.begin(), data.end(), 1);
    job.window(1).lock(2, LockType::exclusive, false);
    uint64_t old = 9, late = 9;
    {
      const Strided type(1, 60, 100, 150);
      std::vector<uint64_t> gone = data;  // both may be gone before its turn
      const auto to_2 = [](Transfer transfer) { return transfer.target = 2, transfer; };
      ASSERT_TRUE(job.issue(1, to_2(by_layout(Kind::put, type, 1, &gone))));
      ASSERT_TRUE(job.issue(1, to_2(by_layout(Kind::accumulate, type, 1, &gone, Operation::sum))));
      ASSERT_TRUE(job.issue(1, to_2(by_layout(Kind::get, type, 1, &back))));
    }
    ASSERT_TRUE(job.fetch_add(1, 2, 0, 5, &old));
    ASSERT_TRUE(job.put(1, 2, 30000, old));  // outside the window
    const Mark mark = job.window(1).unlock(2);
    EXPECT_FALSE(job.run([&] { return job.window(1).reached(2, mark); }));
    EXPECT_EQ(job.word(2, 0), 1u);
    // A rank that comes now is behind it.
    job.window(0).unlock(2);
    job.window(0).lock(2, LockType::shared, false);
    ASSERT_TRUE(job.get(0, 2, 0, &late));
    EXPECT_EQ(late, 9u);
    EXPECT_TRUE(job.run([&] { return job.window(1).reached(2, mark); }));
    EXPECT_EQ(old, 2u);
    for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], 2 * data[i]);
    EXPECT_EQ(job.window(1).take_error(2), Status::out_of_range);
    ASSERT_TRUE(job.unlock(0, 2));
    EXPECT_EQ(late, 7u);
    EXPECT_TRUE(job.window(2).own().commons->lock.try_take(LockType::exclusive));
    EXPECT_EQ(job.network.batches(), 0u);
  }
}

// Waiting ranks are not overtaken, and the locks of dead ranks pass on to them.
TEST(RmaNode, WhoEndsWhileItWaitsOrHoldsALockLeavesItToTheNext) {
  Job job(4, 3, 64, 4);
  const auto end = [&](int rank) {
    for (int other = 0; other < job.ranks(); ++other) {
      if (other != rank) job.engines[static_cast<size_t>(other)]->ended(rank);
    }
  };
  const auto lock = [&](int rank, LockType type) {
    job.window(rank).lock(3, type, false);
    return job.window(rank).flush(3);
  };
  EXPECT_EQ(lock(0, LockType::exclusive), 0u);
  EXPECT_NE(lock(1, LockType::exclusive), 0u);
  const Mark mark = lock(2, LockType::shared);
  end(1);
  EXPECT_FALSE(job.run([&] { return job.window(2).reached(3, mark); }));
  end(0);
  EXPECT_TRUE(job.run([&] { return job.window(2).reached(3, mark); }));
  EXPECT_EQ(job.window(2).unlock(3), 0u);
  EXPECT_TRUE(job.window(3).own().commons->lock.try_take(LockType::exclusive));
}

// The target itself dies: nothing is left of what waited.
TEST(RmaNode, WhoWaitsForALockOfARankThatEndsIsTold) {
  Job job(3, 5, 64, 3);
  job.window(2).lock(2, LockType::exclusive, false);
  EXPECT_EQ(job.window(2).flush(2), 0u);
  uint64_t old = 0;
  job.window(0).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.fetch_add(0, 2, 0, 5, &old));
  const Mark mark = job.window(0).unlock(2);
  EXPECT_FALSE(job.window(0).reached(2, mark));
  job.engines[0]->ended(2);
  EXPECT_TRUE(job.window(0).reached(2, mark));
  EXPECT_EQ(job.window(0).take_error(2), Status::lost_peer);
  EXPECT_FALSE(job.window(0).queued(2));
}

// A window opened when other ranks can no longer be found: each rank that uses it gets an error.
TEST(RmaNode, AWindowWhoseMembersWereLostBeforeTheyWereFoundIsBroken) {
  Job job(3, 5, 64, 3);
  Window& window = *job.engines[0]->open(
      43, Members(3), Memory::fixed(job.memory[0].data(), 512, 8), job.nodes[0].get());
  EXPECT_FALSE(window.find_nears());
  job.engines[0]->ended(2);
  ASSERT_TRUE(window.broken());
  const std::vector<int> others{1, 2};
  window.fence_enter();
  EXPECT_FALSE(window.fence_met());
  window.post(others);
  EXPECT_FALSE(window.started(others));
  window.complete(others);
  window.lock_all(false);
  const uint64_t value = 1;
  Transfer transfer{
      .kind = Kind::put, .target = 2, .length = sizeof value, .data = Job::bytes(value)};
  EXPECT_TRUE(window.issue(&transfer));
  EXPECT_EQ(window.take_error(2), Status::lost_peer);
  window.unlock_all();
}

// A rank that has left a fence may not read memory in which earlier operations are not done yet.
TEST(RmaNode, AFenceIsOverAtATargetWhenItHasExecutedWhatOthersSentBefore) {
  Job job(3, 3, 64, 2);
  const auto over_for_0 = [&] {
    return Window::fence_over(*job.window(0).near(1), job.window(0).fence_to_be_over());
  };
  ASSERT_TRUE(job.fence());
  EXPECT_TRUE(over_for_0());
  ASSERT_TRUE(job.put(2, 1, 0, uint64_t{7}));
  for (Window* each : job.windows) each->fence_enter();
  EXPECT_FALSE(over_for_0());
  EXPECT_TRUE(job.run(over_for_0));
  EXPECT_EQ(job.word(1, 0), 7u);
}

TEST(RmaNode, WhatIsOutsideOfTheWindowIsAnErrorOfTheNextFlush) {
  Job job(2, 4, 64, 2);
  ASSERT_TRUE(job.put(0, 1, 64, uint64_t{1}));
  EXPECT_FALSE(job.window(0).ready(1));
  EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range);
  EXPECT_TRUE(job.window(0).ready(1));
  EXPECT_EQ(job.window(0).near(1)->at(63, 8), reinterpret_cast<std::byte*>(&job.word(1, 63)));
  EXPECT_EQ(job.window(0).near(1)->at(63, 9), nullptr);
  EXPECT_EQ(job.window(0).near(1)->at(64, 1), nullptr);
  EXPECT_EQ(job.window(0).near(1)->at(-1, 8), nullptr);
  EXPECT_EQ(job.window(0).near(1)->at(INT64_MAX, 8), nullptr);
  EXPECT_EQ(job.window(0).near(2), nullptr);
  EXPECT_EQ(job.window(0).near(-2), nullptr);
}

TEST(RmaNode, RanksOfANodeNeedNotFollowEachOther) {
  net::StubNetwork network(5, 1);
  std::string wrong;
  const auto arena = net::Arena::make(uint64_t{1} << 30, &wrong);
  Node node(arena, {0, 3, 4}, 3);
  Node other(arena, {0, 3, 4}, 4);
  Engine engine(&network.fabric(3)), of_other(&network.fabric(4));
  const std::vector<int> peers{4, 1, 3, 2};
  std::byte* const memory = other.take(64);
  Window* window = engine.open(7, Members(peers), Memory::fixed(node.take(8), 8, 1), &node);
  EXPECT_FALSE(window->find_nears());
  of_other.open(7, Members(peers), Memory::fixed(memory, 64, 4), &other);
  EXPECT_TRUE(window->find_nears());
  EXPECT_EQ(window->nears().size(), 2u);
  EXPECT_FALSE(window->all_near());
  EXPECT_EQ(window->near(0)->at(3, 8), memory + 12);
  EXPECT_EQ(window->near(1), nullptr);
  EXPECT_EQ(window->near(2), &window->own());
  EXPECT_EQ(window->near(3), nullptr);
}

// Memory that the program provides

TEST(RmaNode, TheKernelCopiesWhatOthersOfTheNodeBroughtAndNoMessagesGo) {
  Job job(3, 5, 300000, 3, Memories::process);
  ASSERT_TRUE(job.window(0).near(2)->reaches(Near::Reach::process));
  EXPECT_EQ(job.window(0).reached_nears(), 3u);
  uint64_t old = 0, got = 0;
  job.window(0).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.put(0, 2, 5, uint64_t{40}));
  ASSERT_TRUE(job.fetch_add(0, 2, 5, 2, &old));
  ASSERT_TRUE(job.add(0, 2, 5, 3));
  ASSERT_TRUE(job.fetch_add(0, 2, 5, 0, &got));
  EXPECT_EQ(old, 40u);
  EXPECT_EQ(got, 45u);
  const uint64_t swaps[2][2] = {{7, 44}, {8, 45}};  // the new value, the compared one
  for (const auto& swap : swaps) {
    ASSERT_TRUE(job.issue(0, {.kind = Kind::compare_and_swap,
                              .target = 2,
                              .displacement = 5,
                              .length = 8,
                              .data = Job::bytes(swap),
                              .result = reinterpret_cast<std::byte*>(&got)}));
    EXPECT_EQ(got, 45u);
    EXPECT_EQ(job.word(2, 5), swap[1] == 45 ? 8u : 45u);
  }
  // More runs than one system call takes, and more bytes than other ranks should wait for.
  const Strided type(1, 550, 256, 260);
  std::vector<uint64_t> data(2 * 550 * 256), back(data.size());
  std::iota(data.begin(), data.end(), 1);
  const auto to_2 = [](Transfer transfer) { return transfer.target = 2, transfer; };
  job.word(2, 5) = 0;
  ASSERT_TRUE(job.issue(0, to_2(by_layout(Kind::put, type, 2, &data))));
  ASSERT_TRUE(job.issue(0, to_2(by_layout(Kind::accumulate, type, 2, &data, Operation::sum))));
  ASSERT_TRUE(job.issue(0, to_2(by_layout(Kind::get, type, 2, &back))));
  for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], 2 * data[i]) << i;
  for (size_t i = 0; i < 2 * 550 * 260; ++i)
    ASSERT_EQ(job.word(2, i), i % 260 >= 256 ? 0 : 2 * (i / 260 * 256 + i % 260 + 1)) << i;
  EXPECT_EQ(job.window(0).flush(2), 0u);
  EXPECT_EQ(job.window(0).unlock(2), 0u);
  ASSERT_TRUE(job.fence());
  EXPECT_EQ(job.window(0).take_error(), Status::ok);
  EXPECT_EQ(job.network.batches(), 0u);
  const Near& near = *job.window(0).near(2);
  got = 9;
  EXPECT_TRUE(Window::move_at_once(near, Kind::put, 1, &got, 8));
  EXPECT_EQ(job.word(2, 1), 9u);
  EXPECT_TRUE(Window::move_at_once(near, Kind::get, 0, &got, 8));
  EXPECT_EQ(got, job.word(2, 0));
  for (const int64_t at : {int64_t{300000}, int64_t{-1}, INT64_MAX})
    EXPECT_FALSE(Window::move_at_once(near, Kind::put, at, &got, 8));
}

// Many short runs are sent in a message and copied by the owner, after everything earlier; a lock
// taken by its word is released after that.
TEST(RmaNode, ManyShortRunsOfOthersMemoryGoByMessages) {
  const Strided type(1, 5000, 2, 3);
  const auto to_2 = [](Transfer transfer) { return transfer.target = 2, transfer; };
  for (const bool waits : {false, true}) {
    Job job(3, 5, 60000, 3, Memories::process);
    std::vector<uint64_t> data(30000), back(30000);
    std::iota(data.begin(), data.end(), 1);
    uint64_t old = 9, last = 9;
    if (waits) {
      job.window(1).lock(2, LockType::exclusive, false);
      ASSERT_TRUE(job.put(1, 2, 1, uint64_t{7}));
    }
    job.window(0).lock(2, LockType::exclusive, false);
    ASSERT_TRUE(job.put(0, 2, 1, uint64_t{40}));
    ASSERT_TRUE(job.fetch_add(0, 2, 1, 2, &old));
    EXPECT_EQ(old, waits ? 9u : 40u);
    ASSERT_TRUE(job.issue(0, to_2(by_layout(Kind::put, type, 3, &data))));
    ASSERT_TRUE(job.issue(0, to_2(by_layout(Kind::accumulate, type, 3, &data, Operation::sum))));
    ASSERT_TRUE(job.issue(0, to_2(by_layout(Kind::get, type, 3, &back))));
    ASSERT_TRUE(job.fetch_add(0, 2, 1, 1, &last));  // after them
    const Mark mark = job.window(0).unlock(2);
    EXPECT_NE(mark, 0u);
    if (waits) job.window(1).unlock(2);
    EXPECT_FALSE(job.window(1).near(2)->commons->lock.try_take(LockType::shared));
    ASSERT_TRUE(job.run([&] { return job.window(0).reached(2, mark); }));
    EXPECT_GT(job.network.batches(), 0u);
    EXPECT_EQ(old, 40u);
    EXPECT_EQ(last, 4u);
    job.word(2, 1) -= 1;
    for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], 2 * data[i]) << i;
    for (size_t i = 0; i < 45000; ++i)
      ASSERT_EQ(job.word(2, i), i % 3 == 2 ? 0 : 2 * (i / 3 * 2 + i % 3 + 1)) << i;
    EXPECT_EQ(job.window(0).take_error(2), Status::ok);
    EXPECT_TRUE(job.window(1).near(2)->commons->lock.try_take(LockType::exclusive));
  }
}

// The request for the lock goes out, but the operation must wait until less is on its way. When all
// of that is executed, the lock may still be another's.
TEST(RmaNode, WhoHasOnlyAskedForALockDoesNotUseTheMemory) {
  // Of this size the 64th put is one too many, and is followed by a request for an acknowledgement.
  constexpr uint64_t runs = 64, length = 1016;
  Job job(4, 1, 2 * runs * length / 8, 2, Memories::process);
  job.window(1).lock(1, LockType::exclusive, false);
  ASSERT_TRUE(job.flush(1, 1));
  const std::vector<std::byte> data(runs * length);
  std::vector<Piece> pieces;
  for (uint64_t run = 0; run < runs; ++run)
    pieces.push_back({static_cast<int64_t>(run * 2 * length), length});
  while (!job.window(0).crowded(1)) {
    ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                              .target = 1,
                              .length = data.size(),
                              .pieces = pieces,
                              .data = data.data()}));
  }
  const uint64_t value = 5;
  Transfer put{.kind = Kind::put, .target = 1, .length = sizeof value, .data = Job::bytes(value)};
  job.window(0).lock(1, LockType::exclusive, false);
  ASSERT_FALSE(job.window(0).issue(&put));
  while (job.step()) {
  }
  ASSERT_FALSE(job.window(0).crowded(1));
  ASSERT_TRUE(job.window(0).issue(&put));
  const Mark mark = job.window(0).flush(1);
  EXPECT_FALSE(job.run([&] { return job.window(0).reached(1, mark); }));
  EXPECT_EQ(job.word(1, 0), 0u);
  EXPECT_TRUE(job.unlock(1, 1));
  EXPECT_TRUE(job.run([&] { return job.window(0).reached(1, mark); }));
  EXPECT_EQ(job.word(1, 0), 5u);
  EXPECT_TRUE(job.unlock(0, 1));
}

TEST(RmaNode, MemoryThatIsNotThereAnyMoreIsAnErrorOfTheNextFlush) {
  Job job(2, 6, 8, 2, Memories::process);
  constexpr size_t page = 4096;
  auto* const memory = static_cast<uint64_t*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Window* const origin =
      job.engines[0]->open(7, Members(2), Memory::fixed(nullptr, 0, 1), job.nodes[0].get());
  job.engines[1]->open(7, Members(2), Memory::fixed(memory, 2 * page, 8), job.nodes[1].get());
  ASSERT_TRUE(origin->find_nears());
  ASSERT_EQ(munmap(memory + page / 8, page), 0);
  const auto issue = [&](Kind kind, int64_t at, uint64_t bytes) {
    std::vector<std::byte> data(bytes, std::byte{1});
    Transfer transfer{.kind = kind,
                      .target = 1,
                      .displacement = at,
                      .length = bytes,
                      .data = data.data(),
                      .result = data.data(),
                      .element = Element::uint64,
                      .operation = Operation::sum};
    EXPECT_TRUE(origin->issue(&transfer));
    return origin->take_error(1);
  };
  for (const Kind kind : {Kind::put, Kind::get, Kind::accumulate, Kind::fetch}) {
    EXPECT_EQ(issue(kind, page / 8, 8), Status::out_of_range);
    EXPECT_EQ(issue(kind, page / 8 - 1, 16), Status::out_of_range);
    EXPECT_EQ(issue(kind, page / 8 - 1, 8), Status::ok);
  }
  EXPECT_EQ(issue(Kind::put, page / 4, 8), Status::out_of_range);  // beyond the window
  munmap(memory, page);
}

// Locks and data by messages, fences by words.
TEST(RmaNode, WhoMayNotReachTheMemorySendsMessages) {
  Job job(3, 7, 64, 3, Memories::refused);
  EXPECT_EQ(job.window(0).reached_nears(), 1u);
  job.window(0).lock(2, LockType::exclusive, false);
  job.window(1).lock(2, LockType::exclusive, false);
  uint64_t first = 7, second = 7;
  ASSERT_TRUE(job.fetch_add(0, 2, 0, 5, &first));
  ASSERT_TRUE(job.flush(0, 2));
  ASSERT_TRUE(job.fetch_add(1, 2, 0, 1, &second));
  EXPECT_FALSE(job.flush(1, 2));
  ASSERT_TRUE(job.unlock(0, 2));
  ASSERT_TRUE(job.unlock(1, 2));
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 5u);
  EXPECT_GT(job.network.batches(), 0u);
  ASSERT_TRUE(job.fence());
  const uint64_t batches = job.network.batches();
  ASSERT_TRUE(job.fence());
  EXPECT_EQ(job.network.batches(), batches);
}

bool with_writes_refused(bool (*test)()) {
  return nearcache::test::without_calls({SYS_process_vm_writev}, test);
}

// Before the lock taken by its word is released, operations sent by messages are executed.
TEST(RmaNode, WhoIsRefusedLaterSendsMessagesUnderTheLockThatItHas) {
  EXPECT_TRUE(with_writes_refused([] {
    Job job(3, 8, 64, 3, Memories::process);
    uint64_t got = 7, old = 7;
    job.window(0).lock(2, LockType::exclusive, false);
    bool good = job.get(0, 2, 0, &got) && got == 0 && job.network.batches() == 0;
    good = good && job.fetch_add(0, 2, 0, 5, &old) && job.put(0, 2, 1, old);
    good = good && job.window(0).near(2)->reaches(Near::Reach::messages);
    const Mark mark = job.window(0).unlock(2);
    good = good && mark != 0 && !job.window(1).near(2)->commons->lock.try_take(LockType::shared);
    good = good && job.run([&] { return job.window(0).reached(2, mark); });
    good = good && old == 0 && job.word(2, 0) == 5 && job.window(0).take_error() == Status::ok;
    return good && job.window(1).near(2)->commons->lock.try_take(LockType::exclusive);
  }));
  // The same with a lock of all targets.
  EXPECT_TRUE(with_writes_refused([] {
    Job job(2, 9, 64, 2, Memories::process);
    uint64_t got = 7;
    job.window(0).lock_all(false);
    bool good = job.get(0, 1, 0, &got) && job.put(0, 1, 0, uint64_t{3});
    job.window(0).unlock_all();
    good = good && job.run([&] { return job.window(0).all_reached(); }) && job.word(1, 0) == 3;
    return good && job.window(1).own().commons->lock.try_take(LockType::exclusive);
  }));
}

TEST(RmaNode, WhoHasEndedIsNamedAndItsLocksAreFree) {
  Job job(4, 10, 64, 3, Memories::process);  // rank 3 is on another node
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  uint64_t old = 0;
  for (const int target : {0, 2}) {
    job.window(1).lock(target, target == 0 ? LockType::exclusive : LockType::shared, false);
    ASSERT_TRUE(job.get(1, target, 0, &old));
  }
  job.window(3).lock(0, LockType::exclusive, false);
  ASSERT_TRUE(job.fetch_add(3, 0, 0, 1, &old));
  EXPECT_FALSE(job.flush(3, 0));
  job.window(0).near(1)->process = child;  // as if rank 1 had been there
  job.put(0, 1, 0, old);
  EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
  EXPECT_TRUE(job.window(0).broken());
  EXPECT_EQ(job.engines[0]->why_lost(), "rank 1 is gone: its process has ended");
  EXPECT_TRUE(job.flush(3, 0));
  EXPECT_TRUE(job.window(2).own().commons->lock.try_take(LockType::exclusive));
  job.put(0, 1, 0, old);
  EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
  job.engines[2]->ended(1);  // a later notification changes nothing
  EXPECT_FALSE(job.window(2).own().commons->lock.try_take(LockType::shared));
}

// Batches that a call costs in total, besides those of the operations sent with it.
class Costs : public testing::TestWithParam<int> {
 protected:
  template <class Action>
  uint64_t batches(Action action) {
    const uint64_t before = job.network.batches();
    action();
    return job.network.batches() - before;
  }
  // The same, and recorded in the test's report, from which bench/figures takes its data.
  template <class Action>
  uint64_t batches(const char* call, Action action) {
    const uint64_t found = batches(action);
    RecordProperty(call, static_cast<int>(found));
    return found;
  }
  Job job{GetParam(), 1};
  int last = GetParam() - 1;
  uint64_t value = 1, old[3] = {};
};

TEST_P(Costs, OfEveryCallAreWhatTheDocumentationSays) {
  EXPECT_EQ(batches([&] { job.flush(0, last); }), 0u);
  EXPECT_EQ(
      batches([&] { job.put(0, last, 0, value), job.put(0, last, 1, value), job.flush(0, last); }),
      2u);
  EXPECT_EQ(batches([&] {
              job.get(0, last, 0, &old[0]), job.get(0, last, 1, &old[1]), job.flush(0, last);
            }),
            2u);
  EXPECT_EQ(batches([&] { job.flush(0, last); }), 0u);
  EXPECT_EQ(
      batches([&] { job.window(0).lock(last, LockType::exclusive, false), job.unlock(0, last); }),
      0u);
  EXPECT_EQ(batches("lock_put_get_unlock",
                    [&] {
                      job.window(0).lock(last, LockType::exclusive, false);
                      job.put(0, last, 0, value), job.get(0, last, 1, &old[0]), job.unlock(0, last);
                    }),
            2u);
  EXPECT_EQ(batches([&] {
              job.window(0).lock_all(false), job.window(0).unlock_all();
              job.run([&] { return job.window(0).all_reached(); });
            }),
            0u);
  EXPECT_EQ(batches([&] {
              job.window(0).lock_all(false);
              job.add(0, last, 0, value);
              job.window(0).unlock_all();
              job.run([&] { return job.window(0).all_reached(); });
            }),
            2u);
  uint64_t rounds = 0;
  while ((1 << rounds) < GetParam()) ++rounds;
  EXPECT_EQ(batches("fence", [&] { ASSERT_TRUE(job.fence()); }),
            rounds * static_cast<uint64_t>(GetParam()));
  // An origin does not wait for its target's post.
  const std::vector<int> origins{0}, targets{last};
  EXPECT_EQ(batches("post",
                    [&] {
                      EXPECT_FALSE(job.window(last).post(origins));
                      job.engines[static_cast<size_t>(last)]->push();
                    }),
            0u);
  EXPECT_EQ(batches([&] { EXPECT_TRUE(job.window(0).started(targets)); }), 0u);
  // The beginning and the end of the epoch are sent with the data.
  EXPECT_EQ(batches("put_complete",
                    [&] {
                      job.put(0, last, 0, value), job.window(0).complete(targets),
                          job.engines[0]->push();
                    }),
            1u);
  EXPECT_EQ(batches([&] { job.run([&] { return job.window(last).completed_by(1); }); }), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Costs, testing::Values(2, 3, 16, 100, 1024));

}  // namespace TEST_FILE
}  // namespace nearcache::rma
