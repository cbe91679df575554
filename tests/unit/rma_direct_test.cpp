// Windows on a network that reads and writes memory without involving its owner: what must be known
// before that is done, and what waits for it.
#include "rma_job.h"

#include <numeric>

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;
using test::Memories;
using test::Network;

constexpr size_t words = 1024;  // 8 KiB: large enough for a direct transfer

struct DirectJob : Job {
  explicit DirectJob(int ranks, uint64_t seed = 1)
      : Job(ranks, seed, 2 * words, 1, Memories::arena, Network::direct) {}

  bool put_all(int origin, int target, const std::vector<uint64_t>& data) {
    return issue(
        origin,
        {.kind = Kind::put, .target = target, .length = data.size() * 8, .data = bytes(data[0])});
  }
  bool get_all(int origin, int target, std::vector<uint64_t>* data, int64_t at = 0) {
    return issue(origin, {.kind = Kind::get,
                          .target = target,
                          .displacement = at,
                          .length = data->size() * 8,
                          .result = reinterpret_cast<std::byte*>(data->data())});
  }
  // Makes the target's memory known to the origin, which holds no lock of it.
  void locate(int origin, int target) {
    std::vector<uint64_t> any(words);
    ASSERT_TRUE(get_all(origin, target, &any) && flush(origin, target));
  }
};

TEST(RmaDirect, WhatTheTargetHasToldOnceIsReachedWithoutMessages) {
  DirectJob job(2);
  job.window(0).lock_all(false);
  job.locate(0, 1);
  EXPECT_EQ(job.network.transfers(), 0u);
  const uint64_t batches = job.network.batches();
  std::iota(job.memory[1].begin(), job.memory[1].end(), 1000);
  std::vector<uint64_t> got(words), put(words, 7);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(job.get_all(0, 1, &got, i) && job.flush(0, 1));
    EXPECT_EQ(got.front(), 1000u + static_cast<uint64_t>(i));
    EXPECT_EQ(got.back(), got.front() + words - 1);
  }
  ASSERT_TRUE(job.put_all(0, 1, put) && job.flush(0, 1));
  EXPECT_EQ(job.word(1, words - 1), 7u);
  EXPECT_EQ(job.word(1, words), 1000 + words);
  EXPECT_EQ(job.network.transfers(), 21u);
  EXPECT_EQ(job.network.batches(), batches);
}

TEST(RmaDirect, SmallOperationsGoSoAloneAndTogetherAsMessages) {
  DirectJob job(2);
  job.window(0).lock_all(false);
  job.locate(0, 1);
  const uint64_t batches = job.network.batches();
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(job.put(0, 1, static_cast<int64_t>(i), i + 5));
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.word(1, 2), 7u);
  EXPECT_EQ(job.network.transfers(), 3u);
  EXPECT_EQ(job.network.batches(), batches);
  for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(job.put(0, 1, static_cast<int64_t>(i), i));
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.word(1, 199), 199u);
  EXPECT_LT(job.network.transfers(), 10u);
  EXPECT_LE(job.network.batches(), batches + 4);
}

TEST(RmaDirect, RunsGoOneByOneIfTheyAreLarge) {
  DirectJob job(2);
  job.window(0).lock_all(false);
  job.locate(0, 1);
  std::iota(job.memory[1].begin(), job.memory[1].end(), 0);
  const Piece large[] = {{8 * words, 4096}, {0, 4096}};
  std::vector<uint64_t> got(words);
  ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .length = 8192,
                            .pieces = large,
                            .result = reinterpret_cast<std::byte*>(got.data())}) &&
              job.flush(0, 1));
  EXPECT_EQ(job.network.transfers(), 2u);
  EXPECT_EQ(got[0], words);
  EXPECT_EQ(got[512], 0u);
  const Piece small[] = {{8, 8}, {0, 8}};
  ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .length = 16,
                            .pieces = small,
                            .result = reinterpret_cast<std::byte*>(got.data())}) &&
              job.flush(0, 1));
  EXPECT_EQ(job.network.transfers(), 2u);
  EXPECT_EQ(got[0], 1u);
}

// A rank may leave a fence while another still has to execute operations from before it.
TEST(RmaDirect, NobodyReadsMemoryAsItIsBeforeAFence) {
  uint64_t transfers = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    DirectJob job(4, seed);
    ASSERT_TRUE(job.fence());
    job.locate(0, 3);
    const std::vector<uint64_t> put(words, 9);
    std::vector<uint64_t> got(words), again(words);
    for (uint64_t i = 0; i < words; i += 8)  // many messages
      ASSERT_TRUE(job.add(1, 3, static_cast<int64_t>(i), 9));
    for (Window* each : job.windows) each->fence_enter();
    ASSERT_TRUE(job.run([&] { return job.window(0).fence_met(); }));
    ASSERT_TRUE(job.get_all(0, 3, &got));
    ASSERT_TRUE(job.flush(0, 3));
    EXPECT_EQ(got[words - 8], 9u);
    const uint64_t before = job.network.transfers();
    ASSERT_TRUE(job.get_all(0, 3, &again) && job.flush(0, 3));
    EXPECT_EQ(again, got);
    transfers += job.network.transfers() - before;
    if (HasFailure()) return;
  }
  EXPECT_EQ(transfers, 300u);
}

TEST(RmaDirect, NothingIsDoneUnderALockThatIsNotGranted) {
  DirectJob job(3);
  job.locate(0, 2);
  job.locate(1, 2);
  job.window(0).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.put(0, 2, 0, uint64_t{1}) && job.flush(0, 2));
  const std::vector<uint64_t> put(words, 5), other(words, 6);
  job.window(1).lock(2, LockType::exclusive, false);
  ASSERT_TRUE(job.put_all(1, 2, put) && job.put_all(1, 2, put));
  while (job.step()) {
  }
  EXPECT_EQ(job.word(2, 1), 0u);
  const uint64_t before = job.network.transfers();
  ASSERT_TRUE(job.put_all(0, 2, other) && job.flush(0, 2));  // confirms that it holds the lock
  EXPECT_EQ(job.network.transfers(), before + 1);
  EXPECT_EQ(job.word(2, 1), 6u);
  ASSERT_TRUE(job.unlock(0, 2) && job.unlock(1, 2));
  EXPECT_EQ(job.word(2, 1), 5u);
  EXPECT_EQ(job.network.transfers(), before + 1);
}

TEST(RmaDirect, AFlushAFenceAndAnUnlockWaitForTransfers) {
  DirectJob job(2);
  ASSERT_TRUE(job.fence());
  job.locate(0, 1);
  std::vector<uint64_t> got(words);
  ASSERT_TRUE(job.get_all(0, 1, &got));
  const Mark mark = job.window(0).flush(1), local = job.window(0).flush_local(1);
  EXPECT_FALSE(job.window(0).transferred(1));
  EXPECT_FALSE(job.window(0).transferred());
  EXPECT_FALSE(job.window(0).reached(1, mark));
  EXPECT_FALSE(job.window(0).reached(1, local));
  EXPECT_FALSE(job.window(0).all_reached());
  EXPECT_FALSE(job.window(0).all_landed());
  const std::vector<uint64_t> put(words);
  ASSERT_TRUE(job.run([&] { return job.window(0).reached(1, mark); }));
  EXPECT_TRUE(job.window(0).transferred(1) && job.window(0).all_reached());
  ASSERT_TRUE(job.put_all(0, 1, put));
  EXPECT_TRUE(job.window(0).reached(1, job.window(0).flush_local(1)));  // it is copied
  EXPECT_FALSE(job.window(0).transferred());
  ASSERT_TRUE(job.all_transferred());
}

TEST(RmaDirect, WhatIsOutsideOfTheWindowGoesByMessagesAndIsAnErrorOfTheNextFlush) {
  DirectJob job(2);
  job.locate(0, 1);
  std::vector<uint64_t> got(words);
  for (const int64_t at : {int64_t{words + 1}, int64_t{-1}, INT64_MAX / 8, INT64_MIN}) {
    ASSERT_TRUE(job.get_all(0, 1, &got, at) && job.flush(0, 1));
    EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range) << at;
  }
  EXPECT_EQ(job.network.transfers(), 0u);
  ASSERT_TRUE(job.get_all(0, 1, &got, words) && job.flush(0, 1));
  EXPECT_EQ(job.window(0).take_error(1), Status::ok);
  EXPECT_EQ(job.network.transfers(), 1u);
}

TEST(RmaDirect, WhoWaitsForARankThatEndsIsTold) {
  DirectJob job(3);
  job.locate(0, 2);
  std::vector<uint64_t> got(20 * words), small(words);
  Status told = Status::ok;
  Transfer transfer{.kind = Kind::get,
                    .target = 2,
                    .length = words * 8,
                    .result = reinterpret_cast<std::byte*>(got.data())};
  transfer.completion = {[](void* to, Status status) { *static_cast<Status*>(to) = status; },
                         &told};
  ASSERT_TRUE(job.window(0).issue(&transfer));
  const Mark mark = job.window(0).flush(2);
  job.network.kill(2);
  ASSERT_TRUE(job.run([&] { return job.window(0).reached(2, mark); }));
  EXPECT_EQ(told, Status::lost_peer);
  EXPECT_EQ(job.window(0).take_error(2), Status::lost_peer);
  EXPECT_TRUE(job.window(0).transferred());
  ASSERT_TRUE(job.get_all(0, 2, &small) && job.flush(0, 2));
  EXPECT_EQ(job.window(0).take_error(2), Status::lost_peer);
}

// More than fits, and the target dies meanwhile.
TEST(RmaDirect, WhoWaitsForRoomGoesOnWhenTheTargetHasEnded) {
  constexpr size_t many = 100 * 8192;
  Job job(2, 1, many, 1, Memories::arena, Network::direct);
  std::vector<uint64_t> data(many, 3);
  Transfer transfer{
      .kind = Kind::put, .target = 1, .length = 8 * many, .data = Job::bytes(data[0])};
  Transfer first = transfer;
  first.length = 8192;
  ASSERT_TRUE(job.issue(0, first) && job.flush(0, 1));
  EXPECT_FALSE(job.window(0).issue(&transfer));
  EXPECT_TRUE(job.window(0).crowded(1));
  EXPECT_GT(job.network.transfers(), 0u);
  job.network.kill(1);
  ASSERT_TRUE(job.run([&] { return job.engines[0]->is_lost(1); }));
  EXPECT_FALSE(job.window(0).crowded(1));
  EXPECT_TRUE(job.window(0).issue(&transfer));
  EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
}

// A rank that reports memory nobody asked for, or answers in the network's place, has violated the
// protocol.
TEST(RmaDirect, AnswersThatNobodyAskedForLoseTheRank) {
  for (const bool located : {true, false}) {
    DirectJob job(2);
    job.locate(0, 1);
    std::vector<uint64_t> got(words);
    ASSERT_TRUE(job.get_all(0, 1, &got));
    BatchWriter batch;
    for (uint64_t number = 0; number < 4; ++number) {
      for (uint64_t generation = 1; generation < 4; ++generation) {
        Head head{.kind = located ? Kind::located : Kind::data,
                  .window = Job::window_id,
                  .length = located ? 0 : words * 8,
                  .token = generation << 32 | number};
        batch.clear();
        batch.append(head);
        job.engines[0]->received(1, batch.bytes());
      }
    }
    EXPECT_TRUE(job.engines[0]->is_lost(1));
    EXPECT_TRUE(job.window(0).transferred());
    EXPECT_EQ(job.window(0).take_error(1), Status::lost_peer);
    while (job.step()) {  // what the network still delivers
    }
  }
}

TEST(RmaDirect, MemoryThatMayGoIsReachedByMessages) {
  net::StubNetwork network(2, 1);
  network.reach_memory();
  Engine origin(&network.fabric(0)), owner(&network.fabric(1));
  std::vector<uint64_t> memory(words);
  Window* const from = origin.open(7, Members(2), Memory::brought(nullptr, 0, 1));
  owner.open(7, Members(2), Memory::brought(memory.data(), words * 8, 8));
  const std::vector<uint64_t> data(words, 4);
  for (int i = 0; i < 3; ++i) {
    Transfer put{.kind = Kind::put, .target = 1, .length = words * 8, .data = Job::bytes(data[0])};
    ASSERT_TRUE(from->issue(&put));
    const Mark mark = from->flush(1);
    origin.push();
    for (int turn = 0; turn < 100 && !from->reached(1, mark); ++turn) owner.poll(), origin.poll();
    ASSERT_TRUE(from->reached(1, mark));
  }
  EXPECT_EQ(memory.back(), 4u);
  EXPECT_EQ(network.transfers(), 0u);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
