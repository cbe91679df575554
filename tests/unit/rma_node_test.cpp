// The engine among ranks of a node: shared words, memory that is reached directly or by the kernel.
#include "rma_job.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "rma/engine.h"
#include "without_calls.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::by_layout;
using test::Job;
using test::Memories;
using test::Strided;

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

}  // namespace TEST_FILE
}  // namespace nearcache::rma
