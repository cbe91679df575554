// How many batches each call costs.
#include "rma_job.h"

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

INSTANTIATE_TEST_SUITE_P(Ranks, Costs, testing::Values(2, 3, 16, 100, 1024));

}  // namespace TEST_FILE
}  // namespace nearcache::rma
