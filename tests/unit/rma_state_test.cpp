// What a rank stores for a window, for its members, and for each target.
#include <gtest/gtest.h>

#include <malloc.h>

#include <climits>
#include <set>

#include "rma/members.h"
#include "rma/rank_map.h"
#include "rma_job.h"
#include "sanitized.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;

TEST(RankMap, FindsWhatWasAdded) {
  struct Entry {
    int rank = -1;
    int value = 0;
  };
  RankMap<Entry> map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(0), nullptr);
  // neighbours, far apart, and such as differ only in high bits
  std::vector<int> ranks{0, 1, 2, 3, INT_MAX, INT_MAX - 1, 1 << 30, 1 << 20, 3 << 20};
  for (int each = 0; each < 3000; ++each) ranks.push_back(10 + each * 65536 % 1000003);
  std::vector<Entry*> at;
  for (const int rank : ranks) {
    EXPECT_EQ(map.find(rank), nullptr);
    at.push_back(&map[rank]);
    at.back()->value = rank / 2;
  }
  EXPECT_FALSE(map.empty());
  EXPECT_EQ(map.find(4), nullptr);
  for (size_t each = 0; each < ranks.size(); ++each) {
    EXPECT_EQ(map.find(ranks[each]), at[each]);  // none has moved
    EXPECT_EQ(&map[ranks[each]], at[each]);
    EXPECT_EQ(at[each]->rank, ranks[each]);
    EXPECT_EQ(at[each]->value, ranks[each] / 2);
  }
  std::vector<int> visited;
  map.each([&](const Entry& entry) { visited.push_back(entry.rank); });
  EXPECT_EQ(visited, ranks);
  EXPECT_TRUE(map.all_of([](const Entry& entry) { return entry.value <= entry.rank; }));
  EXPECT_FALSE(map.all_of([](const Entry& entry) { return entry.rank != 3; }));
}

TEST(Members, AreTranslatedBothWays) {
  const std::vector<std::vector<int>> all{
      {},        {5},       {0, 1, 2, 3},    {4, 5, 6},        {1, 4, 7, 10},
      {9, 6, 3}, {0, 2, 3}, {7, 0, 9, 8, 2}, {0, INT_MAX - 1}, {INT_MAX - 1, 0, 1}};
  for (const auto& peers : all) {
    const Members members(peers);
    EXPECT_EQ(members.size(), static_cast<int>(peers.size()));
    for (size_t rank = 0; rank < peers.size(); ++rank) {
      EXPECT_EQ(members.peer(static_cast<int>(rank)), peers[rank]);
      EXPECT_EQ(members.rank_of(peers[rank]), static_cast<int>(rank));
    }
    const std::set<int> known(peers.begin(), peers.end());
    for (const int other : {-1, 0, 1, 2, 3, 5, 8, 11, 13, INT_MAX, INT_MIN})
      EXPECT_EQ(members.rank_of(other) >= 0, known.contains(other)) << other;
  }
  const Members job(3);
  EXPECT_EQ(job.peer(2), 2);
  EXPECT_EQ(job.rank_of(2), 2);
  EXPECT_EQ(job.rank_of(3), -1);
}

// Marks and locks outlive what is forgotten of a target when nothing is on its way to it.
TEST(Rma, ATargetIsForgottenBetweenOperationsButNotItsMarksNorItsLock) {
  Job job(3, 5);
  Window& window = job.window(0);
  const uint64_t value = 7;
  std::vector<std::pair<int, Mark>> marks;
  window.lock(1, LockType::exclusive, false);
  for (int round = 0; round < 4; ++round) {
    for (const int target : {1, 2}) {
      for (int put = 0; put <= round * 3 * target; ++put) job.put(0, target, put, value);
      const Mark mark = window.flush(target);
      EXPECT_FALSE(window.reached(target, mark));
      for (const auto& [of, earlier] : marks) EXPECT_TRUE(window.reached(of, earlier));
      ASSERT_TRUE(job.run([&] { return window.reached(target, mark); }));
      marks.emplace_back(target, mark);
      EXPECT_EQ(window.flush(target), Mark());
    }
  }
  EXPECT_FALSE(job.windows[1]->own().commons->lock.try_take(LockType::shared));
  ASSERT_TRUE(job.unlock(0, 1));
  EXPECT_TRUE(job.windows[1]->own().commons->lock.try_take(LockType::exclusive));
  EXPECT_EQ(window.take_error(), Status::ok);
}

#if __GLIBC_PREREQ(2, 33)
// Bytes of this process's heap that are in use.
int64_t heap() { return static_cast<int64_t>(mallinfo2().uordblks); }

// docs/rma.md has the figures. The table of windows, 8 to 16 bytes for each, does not grow
// meanwhile.
TEST(Rma, AWindowTakesTheSameMemoryForAnyNumberOfRanks) {
  if (sanitized) GTEST_SKIP() << "the heap is not glibc's";
  constexpr int64_t first = 64, windows = 40;
  for (const int ranks : {16, 1024}) {
    net::StubNetwork network(ranks, 1);
    Engine engine(&network.fabric(0));
    std::vector<int> every_other(static_cast<size_t>(ranks) / 2);
    for (size_t rank = 0; rank < every_other.size(); ++rank)
      every_other[rank] = static_cast<int>(2 * rank);
    int64_t before = 0;
    for (int64_t id = 1; id <= first + windows; ++id) {
      if (id == first + 1) before = heap();
      Members members = id % 2 == 0 ? Members(ranks) : Members(every_other);
      engine.open(static_cast<uint64_t>(id), std::move(members), Memory::fixed(nullptr, 0, 8),
                  nullptr);
    }
    EXPECT_LE((heap() - before) / windows, 512);  // a block may get 16 bytes that are left over
  }
}

TEST(Rma, ATargetTakesFortyBytesOnceItsOperationsAreExecuted) {
  if (sanitized) GTEST_SKIP() << "the heap is not glibc's";
  constexpr int ranks = 48;
  Job job(ranks, 3);
  const uint64_t value = 7;
  std::vector<Window*> second;
  for (const auto& engine : job.engines)
    second.push_back(engine->open(77, Members(ranks), Memory::fixed(job.own[0].data(), 8, 8)));
  // The first window has the engine's own tables grow.
  for (Window* const window : {job.windows[0], second[0]}) {
    const int64_t before = heap();
    for (int target = 1; target < ranks; ++target) {
      window->lock(target, LockType::shared, true);
      Transfer put{.kind = Kind::put, .target = target, .length = 8, .data = Job::bytes(value)};
      ASSERT_TRUE(window->issue(&put));
    }
    window->flush_all();
    ASSERT_TRUE(job.run([&] { return window->all_reached(); }));
    EXPECT_EQ(window->take_error(), Status::ok);
    const int64_t after = heap();
    if (window == second[0]) EXPECT_LT((after - before) / (ranks - 1), 41);
  }
}
#endif

}  // namespace TEST_FILE
}  // namespace nearcache::rma
