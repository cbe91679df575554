// The engine's fences and post, start, complete and wait, on a network that delays and reorders
// batches.
#include "rma_job.h"

#include <algorithm>
#include <deque>
#include <random>

#include "rma/engine.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;

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

}  // namespace TEST_FILE
}  // namespace nearcache::rma
