// How many batches each call costs.
#include "rma_job.h"

#include <utility>

#include "rma/engine.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;

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

class CostsOfLongRuns : public testing::Test {
 protected:
  static constexpr size_t words = 2 * net::Detour::bytes / 8;  // as much as one batch carries
  CostsOfLongRuns() {
    job.window(0).lock_all(false);
    EXPECT_TRUE(job.put(0, 1, 0, data[0]) && job.flush(0, 1));
  }
  void move(Kind kind, int64_t at, uint64_t bytes) {
    EXPECT_TRUE(job.issue(0, {.kind = kind,
                              .target = 1,
                              .displacement = at,
                              .length = bytes,
                              .data = Job::bytes(data[0]),
                              .result = reinterpret_cast<std::byte*>(data.data())}));
  }
  void let_pass() {
    EXPECT_FALSE(job.run([] { return false; }));
  }
  uint64_t since() { return job.network.batches() - std::exchange(before, job.network.batches()); }

  Job job{2, 1, 2 * words + 8};
  std::vector<uint64_t> data = std::vector<uint64_t>(2 * words + 8, 7);
  uint64_t before = job.network.batches();
};

TEST_F(CostsOfLongRuns, AreOneBatchAndItsReply) {
  since();
  move(Kind::get, 0, words * 8);
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(since(), 2u);
  // What is beyond whole words is sent with the flush.
  move(Kind::put, 0, words * 8 - 3);
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(since(), 1u + 2u);
}

TEST_F(CostsOfLongRuns, OfPutsIncludeTheFlushIfTheyAreAlone) {
  since();
  move(Kind::put, 0, words * 8);
  let_pass();
  EXPECT_EQ(since(), 2u);
  EXPECT_EQ(job.word(1, words - 1), 7u);
  EXPECT_TRUE(job.window(0).reached(1, job.window(0).flush(1)));
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(since(), 0u);
  move(Kind::accumulate, 0, 64 << 10);
  let_pass();
  EXPECT_EQ(since(), 2u);
  EXPECT_TRUE(job.window(0).reached(1, job.window(0).flush(1)));
  // Only the last message of one asks,
  move(Kind::put, 0, 2 * words * 8);
  let_pass();
  EXPECT_EQ(since(), 3u);
  EXPECT_TRUE(job.window(0).reached(1, job.window(0).flush(1)));
  // and only the first one after a flush.
  move(Kind::put, 0, words * 8), move(Kind::put, words, words * 8);
  let_pass();
  EXPECT_EQ(since(), 3u);
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(since(), 2u);
  for (const uint64_t batches : {2u, 1u, 1u}) {
    move(Kind::put, 0, 16 << 10);
    let_pass();
    EXPECT_EQ(since(), batches);
  }
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(since(), 2u);
  // Its error is not lost with the reply.
  move(Kind::put, words + 9, words * 8);
  let_pass();
  EXPECT_TRUE(job.window(0).reached(1, job.window(0).flush(1)));
  EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range);
}

TEST_F(CostsOfLongRuns, OfPutsOutsideOfSuchEpochsAreNotReplies) {
  job.window(0).unlock_all();
  let_pass();
  since();
  move(Kind::put, 0, words * 8);
  let_pass();
  EXPECT_EQ(since(), 1u);
  EXPECT_TRUE(job.fence());
  EXPECT_EQ(job.word(1, words - 1), 7u);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Costs, testing::Values(2, 3, 16, 100, 1024));

}  // namespace TEST_FILE
}  // namespace nearcache::rma
