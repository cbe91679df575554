// Ranks with agents, over every fabric, each with several program threads: requests to a computing
// rank are served, and no wake-up is lost.
#include <gtest/gtest.h>

#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "in_node.h"
#include "net/ofi_fabric.h"
#include "net/socket_fabric.h"
#include "ofi_here.h"
#include "rma/agent.h"
#include "rma/node.h"

namespace nearcache::rma {
namespace TEST_FILE {

struct Rank {
  std::unique_ptr<net::Fabric> others, fabric;
  std::unique_ptr<Node> node;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Agent> agent;
  std::vector<uint64_t> own = std::vector<uint64_t>(64);
  std::span<uint64_t> words = own;
  Window* window = nullptr;

  void issue(const Agent::Lock& lock, Transfer transfer) {
    while (!window->issue(&transfer))
      agent->wait(lock, [&] { return !window->crowded(transfer.target); });
  }
  void flush(int target) {
    const Agent::Lock lock(agent.get());
    const Mark mark = window->flush(target);
    agent->wait(lock, [&] { return window->reached(target, mark); });
  }
  void unlock(int target) {
    const Agent::Lock lock(agent.get());
    const Mark mark = window->unlock(target);
    agent->wait(lock, [&] { return window->reached(target, mark); });
  }
  uint64_t fetch_add(int target, int64_t at, uint64_t value) {
    uint64_t old = UINT64_MAX;
    {
      const Agent::Lock lock(agent.get());
      issue(lock, {.kind = Kind::fetch,
                   .target = target,
                   .displacement = at,
                   .length = 8,
                   .data = reinterpret_cast<std::byte*>(&value),
                   .result = reinterpret_cast<std::byte*>(&old),
                   .element = Element::uint64,
                   .operation = Operation::sum});
    }
    flush(target);
    return old;
  }
  void fence() {
    const Agent::Lock lock(agent.get());
    window->fence_enter();
    agent->wait(lock, [&] { return window->fence_met() && window->all_landed(); });
  }
};

template <class Kind>
std::vector<std::unique_ptr<net::Fabric>> fabrics_of(std::vector<std::unique_ptr<Kind>> opened) {
  std::vector<std::remove_cvref_t<decltype(opened[0]->address())>> addresses;
  for (const auto& fabric : opened) addresses.push_back(fabric->address());
  for (const auto& fabric : opened) fabric->know({1, 2}, addresses);
  return {std::make_move_iterator(opened.begin()), std::make_move_iterator(opened.end())};
}

std::vector<std::unique_ptr<net::Fabric>> socket_fabrics(int count) {
  std::vector<std::unique_ptr<net::SocketFabric>> opened;
  std::string wrong;
  for (int rank = 0; rank < count; ++rank) {
    opened.push_back(net::SocketFabric::open(rank, "lo", &wrong));
    EXPECT_EQ(wrong, "");
  }
  return fabrics_of(std::move(opened));
}

std::vector<std::unique_ptr<net::Fabric>> ofi_fabrics(int count) {
  std::vector<std::unique_ptr<net::OfiFabric>> opened;
  std::string wrong;
  for (int rank = 0; rank < count; ++rank) {
    opened.push_back(net::OfiFabric::open(rank, count, "tcp", "lo", &wrong));
    EXPECT_EQ(wrong, "");
  }
  return fabrics_of(std::move(opened));
}

// memory_and_sockets: the first two ranks share memory.
enum class Over { sockets, libfabric, memory, memory_and_sockets };

class Agents : public testing::TestWithParam<Over> {
 protected:
  void SetUp() override {
    if (std::string why; GetParam() == Over::libfabric && !net::ofi_is_here(&why))
      GTEST_SKIP() << why;
  }
  // The first `on_node` ranks share a node.
  void begin(int count, int on_node = 1) {
    std::string no_arena;
    const auto arena = net::Arena::make(uint64_t{1} << 30, &no_arena);
    ASSERT_EQ(no_arena, "");
    std::vector<int> sharing(static_cast<size_t>(on_node));
    std::iota(sharing.begin(), sharing.end(), 0);
    for (int rank = 0; rank < count; ++rank) {
      ranks.emplace_back(std::make_unique<Rank>());
    }
    open_fabrics(count);
    for (auto& rank : ranks) {
      rank->engine = std::make_unique<Engine>(rank->fabric.get());
      if (const int number = rank->engine->rank(); on_node > 1 && number < on_node) {
        rank->node = std::make_unique<Node>(arena, sharing, number);
        rank->words = {reinterpret_cast<uint64_t*>(rank->node->take(512)), 64};
      }
      rank->window = rank->engine->open(
          1, Members(count), Memory::fixed(rank->words.data(), rank->words.size() * 8, 8),
          rank->node.get());
    }
    for (auto& rank : ranks) {
      ASSERT_TRUE(rank->window->find_nears());
      rank->agent = std::make_unique<Agent>(rank->engine.get());
      ASSERT_EQ(rank->agent->start(), "");
    }
  }
  void open_fabrics(int count) {
    const Over over = GetParam();
    auto fabrics = over == Over::libfabric ? ofi_fabrics(count) : socket_fabrics(count);
    std::vector<net::Fabric*> all;
    for (const auto& fabric : fabrics) all.push_back(fabric.get());
    const bool shares = over == Over::memory || over == Over::memory_and_sockets;
    if (over == Over::memory) shared = net::InNode(ranks.size(), count);
    if (over == Over::memory_and_sockets) shared = net::InNode(2, count, all);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const bool by_memory = shares && rank < shared.fabrics.size();
      if (by_memory) ranks[rank]->fabric = std::move(shared.fabrics[rank]);
      (by_memory ? ranks[rank]->others : ranks[rank]->fabric) = std::move(fabrics[rank]);
    }
  }
  void TearDown() override {
    for (auto& rank : ranks) rank->agent->stop();
  }
  template <class Body>
  void everybody(Body body) {
    std::vector<std::thread> threads;
    for (auto& rank : ranks) threads.emplace_back([&] { body(*rank); });
    for (std::thread& thread : threads) thread.join();
  }
  net::InNode shared;
  std::vector<std::unique_ptr<Rank>> ranks;
};

std::string name_of(const testing::TestParamInfo<Over>& info) {
  const std::vector<std::string> names{"OverSockets", "OverLibfabric", "OverMemory",
                                       "OverMemoryAndSockets"};
  return names[static_cast<size_t>(info.param)];
}

const auto every_way =
    testing::Values(Over::sockets, Over::libfabric, Over::memory, Over::memory_and_sockets);
INSTANTIATE_TEST_SUITE_P(, Agents, every_way, name_of);

TEST_P(Agents, ServeARankWhoseProgramCallsNothing) {
  begin(2);
  for (uint64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(ranks[0]->fetch_add(1, 5, 1), i);
    // Idle now and then, so that the agents sleep.
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const Agent::Lock lock(ranks[1]->agent.get());
  EXPECT_EQ(ranks[1]->words[5], 300u);
  EXPECT_EQ(ranks[1]->fabric->separate_descriptor() >= 0, GetParam() == Over::sockets);
}

// One connection is in use for a while, then others are, too.
TEST_P(Agents, ServeSeveralRanksWhoseNumberChanges) {
  begin(3);
  constexpr uint64_t times = 500;
  for (const bool together : {false, true, false}) {
    std::thread other([&] {
      for (uint64_t i = 0; together && i < times; ++i) ranks[2]->fetch_add(1, 5, 1);
    });
    for (uint64_t i = 0; i < times; ++i) {
      ranks[0]->fetch_add(1, 5, 1);
      if (i % 8 == 0) ranks[1]->fetch_add(2, 5, 1);
    }
    other.join();
  }
  const Agent::Lock lock(ranks[1]->agent.get());
  EXPECT_EQ(ranks[1]->words[5], 4 * times);
}

// A program that polls its own flags between two gets must not receive an answer to each of them.
TEST_P(Agents, WhoWaitsForNothingSendsTheSecondTimeOnly) {
  begin(2);
  Rank& rank = *ranks[0];
  uint64_t value = 7;
  const auto put = [&](const Agent::Lock& lock) {
    rank.issue(lock, {.kind = Kind::put,
                      .target = 1,
                      .displacement = 5,
                      .length = 8,
                      .data = reinterpret_cast<std::byte*>(&value)});
    return rank.engine->holds();
  };
  for (int turn = 0; turn < 3; ++turn) {
    {
      const Agent::Lock lock(rank.agent.get());
      if (!put(lock)) GTEST_SKIP() << "goes at once here";
      rank.agent->pass(lock, Agent::Step::flush);
      EXPECT_TRUE(rank.engine->holds());
    }
    rank.flush(1);
    const Agent::Lock lock(rank.agent.get());
    put(lock);
    rank.agent->pass(lock, Agent::Step::flush);
    EXPECT_TRUE(rank.engine->holds()) << "after a flush has sent, in turn " << turn;
    rank.agent->pass(lock, Agent::Step::flush);
    EXPECT_FALSE(rank.engine->holds());
  }
}

// As when two threads post and start on the own rank.
TEST_P(Agents, AThreadThatSleepsLearnsWhatAnotherTellsItsRank) {
  begin(2);
  Rank& rank = *ranks[0];
  const int self[] = {0};
  const auto told = [&](auto done, auto tell) {
    std::atomic<bool> over{false};
    std::thread waits([&] {
      const Agent::Lock lock(rank.agent.get());
      rank.agent->wait(lock, done);
      over = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    {
      const Agent::Lock lock(rank.agent.get());
      tell(lock);
    }
    for (int turn = 0; !over && turn < 2000; ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const bool learned = over;
    rank.fabric->ring();
    waits.join();
    return learned;
  };
  const auto nothing = [] { return true; };
  EXPECT_TRUE(told([&] { return rank.window->started(self); },
                   [&](const Agent::Lock& lock) {
                     EXPECT_TRUE(rank.window->post(self));
                     rank.agent->send(lock, Agent::Step::post);
                   }));
  EXPECT_TRUE(told([&] { return rank.window->completed_by(1); },
                   [&](const Agent::Lock& lock) {
                     rank.window->complete(self);
                     rank.agent->wait(lock, nothing, Agent::Step::complete);
                   }));
}

TEST_P(Agents, AThreadThatWaitsElsewhereServesAndTheAgentAfterIt) {
  begin(2);
  std::atomic<bool> over{false};
  std::atomic<uint64_t> helped{0};
  std::thread waits([&] {
    while (!over) helped += ranks[1]->agent->help();
  });
  uint64_t times = 0;
  while (helped == 0 || times < 300) EXPECT_EQ(ranks[0]->fetch_add(1, 5, 1), times++);
  over = true;
  waits.join();
  const uint64_t by_then = helped;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ranks[0]->fetch_add(1, 5, 1), times++);
  EXPECT_EQ(helped, by_then);
}

TEST_P(Agents, IsInItsPlaceAgainWhenWhoHelpedIsBack) {
  begin(2);
  std::atomic<bool> over{false};
  std::thread asks([&] {
    for (uint64_t times = 0; !over; ++times) EXPECT_EQ(ranks[0]->fetch_add(1, 5, 1), times);
  });
  Agent& agent = *ranks[1]->agent;
  while (!agent.is_helped()) agent.help();
  agent.helped();
  EXPECT_FALSE(agent.is_helped());
  over = true;
  asks.join();
}

// Calls in quick succession until the agent stays disarmed in expectation of the next call. Returns
// false if the machine is too slow for that, or nothing is gained by it.
bool call_until_lent(Rank* rank, int target) {
  if (rank->fabric->rests_unless_armed()) return false;
  for (int i = 0; i < 20000 && !rank->agent->is_lent(); ++i) rank->fetch_add(target, 5, 1);
  return rank->agent->is_lent();
}

// Each call comes at once, but finds the lock taken for several times as long.
TEST_P(Agents, IsLentAlsoIfCallsWaitForItsLock) {
  begin(2);
  if (!call_until_lent(ranks[0].get(), 1)) GTEST_SKIP() << "calls do not come at once here";
  Agent& agent = *ranks[0]->agent;
  enum { idle, wanted, taken, over };
  std::atomic<int> state{idle};
  std::thread takes([&] {
    for (;;) {
      int now = state;
      for (; now == idle || now == taken; now = state) sched_yield();
      if (now == over) return;
      const Agent::Lock lock(&agent);
      state = taken;
      std::this_thread::sleep_for(std::chrono::nanoseconds(4 * Habit::at_once_ns));
    }
  });
  // On a busy machine the threads are late for other reasons. Then the count begins again.
  constexpr int enough = 2000;
  int at_once = 0, lent = 0;
  const uint64_t end = system_ns() + 1500000000;
  for (uint64_t began = 0; began < end && at_once < enough && lent < 20;) {
    began = system_ns();
    state = wanted;
    while (state != taken) sched_yield();
    at_once = system_ns() - began < Habit::at_once_ns ? at_once + 1 : 0;
    ranks[0]->fetch_add(1, 5, 1);
    lent = agent.is_lent() ? lent + 1 : 0;
  }
  state = over;
  takes.join();
  if (lent == 0 && at_once < enough) GTEST_SKIP() << "the threads do not run at the same time here";
  EXPECT_GT(lent, 0);
}

TEST_P(Agents, IsInItsPlaceAgainWhenTheNextCallDoesNotCome) {
  begin(2);
  for (uint64_t i = 0; i < 3; ++i) {
    if (!call_until_lent(ranks[0].get(), 1)) GTEST_SKIP() << "calls do not come at once here";
    EXPECT_EQ(ranks[1]->fetch_add(0, 6, 1), i);
    EXPECT_FALSE(ranks[0]->agent->is_lent());
  }
}

TEST_P(Agents, IsInItsPlaceAgainWhenACallOfTheHostComes) {
  begin(2);
  if (!call_until_lent(ranks[0].get(), 1)) GTEST_SKIP() << "calls do not come at once here";
  ranks[0]->agent->let_go();
  EXPECT_FALSE(ranks[0]->agent->is_lent());
}

TEST_P(Agents, WhoHelpsTakesItsPlaceAlsoBetweenCalls) {
  begin(2);
  call_until_lent(ranks[0].get(), 1);
  std::atomic<bool> over{false};
  std::thread asks([&] {
    for (uint64_t times = 0; times < 300; ++times) EXPECT_EQ(ranks[1]->fetch_add(0, 6, 1), times);
    over = true;
  });
  while (!over) ranks[0]->agent->help();
  ranks[0]->agent->helped();
  asks.join();
  EXPECT_FALSE(ranks[0]->agent->is_helped());
}

TEST_P(Agents, StopsBetweenCalls) {
  begin(2);
  call_until_lent(ranks[0].get(), 1);
}

TEST_P(Agents, ManyThreadsOfManyRanksAddAndWaitForEachOther) {
  begin(3);
  constexpr uint64_t threads = 3, times = 60;
  everybody([&](Rank& rank) {
    std::vector<std::thread> all;
    for (uint64_t thread = 0; thread < threads; ++thread) {
      all.emplace_back([&rank, thread] {
        // including its own rank
        for (uint64_t i = 0; i < times; ++i)
          rank.fetch_add(static_cast<int>((i + thread) % 3), 0, 1);
      });
    }
    for (std::thread& thread : all) thread.join();
  });
  uint64_t sum = 0;
  for (auto& rank : ranks) {
    const Agent::Lock lock(rank->agent.get());
    sum += rank->words[0];
  }
  EXPECT_EQ(sum, 3 * threads * times);
}

// Every waiting thread used to be woken for everything that arrived, even for others.
TEST_P(Agents, AThreadThatFollowsSleepsUntilItHasWhatItWaitsFor) {
  begin(2);
  Rank& rank = *ranks[0];
  // Counts how often a thread that waits for a word checks it; others may check it for the thread.
  std::atomic<int> looks_of_leader{0}, looks_of_follower{0};
  const auto waits = [&](size_t word, std::atomic<int>* looks) {
    const Agent::Lock lock(rank.agent.get());
    rank.agent->wait(lock, [&, self = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == self) ++*looks;
      return rank.words[word] != 0;
    });
  };
  std::thread leader([&] { waits(1, &looks_of_leader); });
  while (looks_of_leader < 2) std::this_thread::yield();  // it polls
  std::thread follower([&] { waits(2, &looks_of_follower); });
  while (looks_of_follower == 0) std::this_thread::yield();
  for (uint64_t i = 0; i < 200; ++i) EXPECT_EQ(ranks[1]->fetch_add(0, 5, 1), i);
  ranks[1]->fetch_add(0, 2, 1);
  follower.join();
  EXPECT_EQ(looks_of_follower, 1);
  ranks[1]->fetch_add(0, 1, 1);
  leader.join();
}

TEST_P(Agents, WhoLeavesCallsAnotherToPoll) {
  begin(2);
  Rank& rank = *ranks[0];
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (size_t word = 1; word <= 3; ++word) {
    threads.emplace_back([&rank, &waiting, word] {
      const Agent::Lock lock(rank.agent.get());
      rank.agent->wait(lock, [&, first = true]() mutable {
        if (std::exchange(first, false)) ++waiting;
        return rank.words[word] != 0;
      });
    });
  }
  while (waiting < 3) std::this_thread::yield();
  // Whichever thread polls eventually gets its word, and the others continue.
  for (int64_t word = 1; word <= 3; ++word) ranks[1]->fetch_add(0, word, 1);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ranks[1]->fetch_add(0, 5, 1), 0u);  // the agent is armed again
}

TEST_P(Agents, LocksExcludeProgramsThatRun) {
  begin(3);
  everybody([&](Rank& rank) {
    for (int i = 0; i < 50; ++i) {
      std::array<uint64_t, 2> both{};
      {
        const Agent::Lock lock(rank.agent.get());
        rank.window->lock(0, LockType::exclusive, false);
        rank.issue(lock, {.kind = Kind::get,
                          .target = 0,
                          .displacement = 0,
                          .length = 16,
                          .result = reinterpret_cast<std::byte*>(&both)});
      }
      rank.flush(0);
      EXPECT_EQ(both[0], both[1]);
      for (uint64_t& word : both) ++word;
      for (int64_t k = 0; k < 2; ++k) {
        const Agent::Lock lock(rank.agent.get());
        rank.issue(lock, {.kind = Kind::put,
                          .target = 0,
                          .displacement = k,
                          .length = 8,
                          .data = reinterpret_cast<std::byte*>(&both[0])});
      }
      rank.unlock(0);
    }
  });
  const Agent::Lock lock(ranks[0]->agent.get());
  EXPECT_EQ(ranks[0]->words[0], 150u);
}

// Whoever executes them: the requesting rank, if it shares memory with the target, or the target's
// agent.
TEST_P(Agents, AccumulatesOfNearAndFarRanksAreAtomicToEachOther) {
  begin(4, 2);
  constexpr uint64_t times = 2000;
  const auto many = [](Rank& rank, Kind kind, Operation operation, const uint64_t* data) {
    uint64_t old[6];
    const Agent::Lock lock(rank.agent.get());
    rank.issue(lock, {.kind = kind,
                      .target = 1,
                      .displacement = 8,
                      .length = 48,
                      .data = reinterpret_cast<const std::byte*>(data),
                      .result = kind == Kind::fetch ? reinterpret_cast<std::byte*>(old) : nullptr,
                      .element = Element::uint64,
                      .operation = operation});
    const Mark mark = rank.window->flush(1);
    rank.agent->wait(lock, [&] { return rank.window->reached(1, mark); });
  };
  everybody([&](Rank& rank) {
    const uint64_t ones[6] = {1, 2, 3, 4, 5, 6};
    for (uint64_t i = 0; i < times; ++i) {
      rank.fetch_add(1, 0, 1);
      many(rank, i % 2 == 0 ? Kind::accumulate : Kind::fetch, Operation::sum, ones);
      // A counter by compare-and-swap.
      uint64_t both[2], before = 0;
      for (both[1] = 0;; both[1] = before) {
        both[0] = both[1] + 1;
        const Agent::Lock lock(rank.agent.get());
        rank.issue(lock, {.kind = Kind::compare_and_swap,
                          .target = 1,
                          .displacement = 20,
                          .length = 8,
                          .data = reinterpret_cast<std::byte*>(both),
                          .result = reinterpret_cast<std::byte*>(&before)});
        const Mark mark = rank.window->flush(1);
        rank.agent->wait(lock, [&] { return rank.window->reached(1, mark); });
        if (before == both[1]) break;
      }
    }
  });
  EXPECT_EQ(ranks[1]->words[0], 4 * times);
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(ranks[1]->words[8 + i], 4 * times * (i + 1));
  EXPECT_EQ(ranks[1]->words[20], 4 * times);
}

TEST_P(Agents, LocksOfNearAndFarRanksExcludeEachOther) {
  begin(4, 2);
  constexpr int times = 300;
  everybody([&](Rank& rank) {
    for (int i = 0; i < times; ++i) {
      uint64_t word = 0;
      {
        const Agent::Lock lock(rank.agent.get());
        rank.window->lock(1, LockType::exclusive, false);
        rank.issue(lock, {.kind = Kind::get,
                          .target = 1,
                          .displacement = 0,
                          .length = 8,
                          .result = reinterpret_cast<std::byte*>(&word)});
      }
      rank.flush(1);
      ++word;
      {
        const Agent::Lock lock(rank.agent.get());
        rank.issue(lock, {.kind = Kind::put,
                          .target = 1,
                          .displacement = 0,
                          .length = 8,
                          .data = reinterpret_cast<std::byte*>(&word)});
      }
      rank.unlock(1);
    }
  });
  EXPECT_EQ(ranks[1]->words[0], static_cast<uint64_t>(4 * times));
}

TEST_P(Agents, FencesOfRanksThatComeAtDifferentTimes) {
  begin(4);
  std::atomic<int> entered{0};
  everybody([&](Rank& rank) {
    for (int round = 1; round <= 40; ++round) {
      if ((round + rank.window->rank()) % 16 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++entered;
      rank.fence();
      EXPECT_GE(entered.load(), 4 * round);
    }
  });
}

TEST_P(Agents, WhatIsWaitedForIsTakenOnce) {
  begin(2);
  const std::vector<int> other[2] = {{1}, {0}};
  everybody([&](Rank& rank) {
    const Agent::Lock lock(rank.agent.get());
    const std::vector<int>& peer = other[rank.window->rank()];
    for (int round = 0; round < 100; ++round) {
      rank.window->post(peer);
      rank.agent->wait(lock, [&] { return rank.window->started(peer); });
      rank.window->complete(peer);
      rank.agent->wait(lock, [&] { return rank.window->completed_by(1); });
    }
  });
}

TEST_P(Agents, ALargeTransferWaitsForItsTargetAndNotInItsMemory) {
  begin(2);
  std::vector<std::byte> large(24 << 20, std::byte{7}), back(large.size());
  std::vector<std::byte> memory(large.size());
  for (auto& rank : ranks) {
    const Agent::Lock lock(rank->agent.get());
    rank->engine->close(rank->window);
    rank->window = rank->engine->open(
        2, Members(2), Memory::fixed(memory.data(), rank == ranks[1] ? memory.size() : 0, 1));
  }
  {
    const Agent::Lock lock(ranks[0]->agent.get());
    ranks[0]->issue(lock, {.kind = Kind::put,
                           .target = 1,
                           .displacement = 0,
                           .length = large.size(),
                           .data = large.data()});
    ranks[0]->issue(lock, {.kind = Kind::get,
                           .target = 1,
                           .displacement = 0,
                           .length = back.size(),
                           .result = back.data()});
  }
  ranks[0]->flush(1);
  EXPECT_EQ(back, large);
}

TEST_P(Agents, TheEndOfAProcessOfTheNodeIsToldWithoutAConnection) {
  begin(2, 2);
  const pid_t child = fork();
  if (child == 0) pause();
  Rank& rank = *ranks[0];
  rank.agent->stop();
  rank.agent = std::make_unique<Agent>(rank.engine.get());
  rank.agent->watch(1, child);
  ASSERT_EQ(rank.agent->start(), "");
  EXPECT_FALSE(rank.window->broken());
  kill(child, SIGKILL);
  rank.agent->wait(&rank.window->bell(), [&] { return rank.window->broken(); });
  const Agent::Lock lock(rank.agent.get());
  EXPECT_EQ(rank.engine->why_lost(), "rank 1 is gone: its process has ended");
  waitpid(child, nullptr, 0);
}

// Ranks that end without a word.
class EndsOfRanks : public Agents {
 protected:
  void SetUp() override {
    if (GetParam() == Over::memory || GetParam() == Over::memory_and_sockets)
      GTEST_SKIP() << "the system tells of the end of its process";
  }
  void end(Rank& rank) {
    rank.agent->stop();
    rank.fabric.reset();
  }
  // Calls begin(window), and waits until the rank notices that another one has ended.
  template <class Begin>
  static void wait_for_an_end(Rank& rank, Begin begin) {
    const Agent::Lock lock(rank.agent.get());
    begin(*rank.window);
    rank.agent->wait(lock, [&] { return rank.window->broken(); });
  }
  // Rank 1 ends while rank 0 waits.
  template <class Begin>
  void end_while_awaited(Begin begin) {
    std::thread waits([&] { wait_for_an_end(*ranks[0], begin); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    end(*ranks[1]);
    waits.join();
    EXPECT_TRUE(ranks[0]->window->broken());
  }
};

INSTANTIATE_TEST_SUITE_P(, EndsOfRanks, every_way, name_of);

TEST_P(EndsOfRanks, WakeThoseThatWaitForThem) {
  begin(2);
  ranks[0]->fetch_add(1, 0, 1);
  end_while_awaited([](Window& window) { window.fence_enter(); });
}

// The target sends nothing to its origins, so it must have another reason to connect to them.
TEST_P(EndsOfRanks, BeforeTheySendAnythingWakeWhoHasPosted) {
  begin(2);
  end_while_awaited([](Window& window) { window.post(std::array{1}); });
}

// Its token is awaited by a rank that sends it nothing.
TEST_P(EndsOfRanks, BeforeAFenceWakeAllWhoEnterIt) {
  begin(4);
  end(*ranks[3]);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back(
        [&, rank] { wait_for_an_end(*ranks[rank], [](Window& window) { window.fence_enter(); }); });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(ranks[rank]->window->broken());
}

// Something has come whenever anybody looks, `most` times, as where others ask for more than a rank
// can do.
class Endless final : public net::Fabric {
 public:
  explicit Endless(int most, bool arms = true, bool rests = false)
      : most_(most), arms_(arms), rests_(rests), bell_(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Endless() override { close(bell_); }
  bool over() const { return polls_ >= most_; }
  int polls() const { return polls_; }

  int rank() const override { return 0; }
  int ranks() const override { return 2; }
  size_t largest_batch() const override { return size_t{1} << 20; }
  bool poll(net::Receiver&) override {
    uint64_t rings;
    if (most_ == 0) [[maybe_unused]]
      const ssize_t got = read(bell_, &rings, sizeof rings);
    return ++polls_ < most_;
  }
  bool arm() override { return arms_ || over(); }
  bool arm_briefly() override { return !rests_ || over(); }
  bool rests_unless_armed() const override { return rests_; }
  int wait_descriptor() const override { return bell_; }
  void ring() override {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(bell_, &one, sizeof one);
  }
  bool watch_separate(bool) override { return separate; }
  void watch_together() override { separate = false; }
  void woken(int) override { ++wakes; }

  std::atomic<bool> separate{false};  // there is a separate connection, though nothing comes by it
  std::atomic<int> wakes{0};

 private:
  void send_both(int, std::span<const std::byte>, std::span<const std::byte>) override {}

  int most_;
  bool arms_, rests_;
  int bell_;
  std::atomic<int> polls_{0};
};

constexpr int without_end = 3000000;

class AskedWithoutEnd : public testing::Test {
 protected:
  void begin(bool arms, bool rests) {
    agent.reset();  // its thread uses the other two
    engine.reset();
    fabric = std::make_unique<Endless>(without_end, arms, rests);
    engine = std::make_unique<Engine>(fabric.get());
    calls_of_host = 0;
    agent = std::make_unique<Agent>(engine.get(), [] { ++calls_of_host; });
    ASSERT_EQ(agent->start(), "");
    while (fabric->polls() < 1000) std::this_thread::yield();
  }
  void wait_until(const std::atomic<bool>* over) {
    const Agent::Lock lock(agent.get());
    agent->wait(lock, [&] { return over->load(); });
  }
  std::unique_ptr<Endless> fabric;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Agent> agent;
  static std::atomic<int> calls_of_host;
};
std::atomic<int> AskedWithoutEnd::calls_of_host;

TEST_F(AskedWithoutEnd, AThreadThatHelpsIsBackBeforeLong) {
  for (const bool rests : {false, true}) {
    begin(true, rests);
    while (!agent->help() && !fabric->over()) {
    }
    EXPECT_FALSE(fabric->over()) << rests;
    agent->helped();
  }
}

TEST_F(AskedWithoutEnd, TheAgentLetsTheProgramHaveTheLock) {
  for (const bool arms : {false, true}) {
    begin(arms, false);
    for (int i = 0; i < 3; ++i) const Agent::Lock lock(agent.get());
    EXPECT_FALSE(fabric->over()) << arms;
  }
}

TEST_F(AskedWithoutEnd, AThreadThatWaitsLetsOthersHaveTheLock) {
  begin(true, false);
  std::atomic<bool> over{false};
  std::thread waits([&] { wait_until(&over); });
  const int before = fabric->polls();
  while (fabric->polls() < before + 1000) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) const Agent::Lock lock(agent.get());
  EXPECT_FALSE(fabric->over());
  over = true;
  waits.join();
}

TEST_F(AskedWithoutEnd, WhatComesByOthersThanTheSeparateOneWakesTheAgentOnceAtMost) {
  begin(true, false);
  std::atomic<bool> over{false};
  {
    const Agent::Lock lock(agent.get());
    fabric->separate = true;
  }
  std::thread waits([&] { wait_until(&over); });
  while (fabric->separate && !fabric->over()) std::this_thread::yield();
  const int before = fabric->wakes, polls = fabric->polls();
  while (fabric->polls() < polls + 1000) std::this_thread::yield();
  EXPECT_FALSE(fabric->separate);
  EXPECT_LE(fabric->wakes, before + 1);
  over = true;
  waits.join();
}

TEST_F(AskedWithoutEnd, AThreadThatWaitsCallsTheHost) {
  begin(true, false);
  {
    const Agent::Lock lock(agent.get());
    agent->wait(lock, [&] { return calls_of_host >= 3 || fabric->over(); });
  }
  EXPECT_FALSE(fabric->over());
}

TEST(Agent, SleepsAfterTheEndOfAProcessThoughAChildHasItsDescriptor) {
  Endless nothing(0);
  Engine engine(&nothing);
  Agent agent(&engine);
  const pid_t other = fork();
  if (other == 0) pause();
  agent.watch(1, other);
  ASSERT_EQ(agent.start(), "");
  const pid_t child = fork();
  if (child == 0) pause();
  kill(other, SIGKILL);
  const auto is_told = [&] {
    const Agent::Lock lock(&agent);
    return engine.is_lost(1);
  };
  while (!is_told()) std::this_thread::yield();
  const int before = nothing.polls();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LT(nothing.polls(), before + 20);
  kill(child, SIGKILL);
  for (const pid_t each : {other, child}) waitpid(each, nullptr, 0);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
