// Ends, in order or not: windows that are closed, ranks that are lost, and peers that break the
// protocol.
#include "rma_job.h"

#include <algorithm>

#include "rma/engine.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;
using test::Memories;
using test::Network;

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

TEST(Rma, WhoEntersAFenceOfNoWindowHasBrokenTheProtocol) {
  Job job(2, 22);
  BatchWriter batch;
  batch.append(Head{.kind = Kind::fence, .window = 99, .token = 1});
  job.engines[0]->received(1, batch.bytes());
  EXPECT_TRUE(job.engines[0]->is_lost(1));
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
