// A rank that is killed while it operates on the words of a lock, after every instruction at which
// they do not show what it has done: ranks that wait for the lock, or come later, are notified, and
// none waits forever.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "net/process_memory.h"
#include "net/stub_network.h"
#include "rma/engine.h"
#include "sanitized.h"

namespace nearcache::rma {
namespace TEST_FILE {

constexpr int ranks = 5, near_ranks = 4, target = 3, far = 4;
constexpr uint64_t id = 42;

// One rank, in this process.
struct Rank {
  std::unique_ptr<Node> node;
  std::unique_ptr<Engine> engine;
  Window* window = nullptr;
  uint64_t word = 0;

  Rank(int rank, net::StubNetwork* network, const std::shared_ptr<net::Arena>& arena) {
    if (rank < near_ranks) node = std::make_unique<Node>(arena, std::vector{0, 1, 2, 3}, rank);
    engine = std::make_unique<Engine>(&network->fabric(rank));
    std::byte* const memory = node != nullptr ? node->take(8) : reinterpret_cast<std::byte*>(&word);
    window = engine->open(id, Members(ranks), Memory::fixed(memory, 8, 8), node.get());
  }
  ~Rank() { engine.reset(); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
};

class KilledRank : public testing::Test {
 protected:
  // Creates all ranks but the second, which is a separate process.
  void begin() {
    all.clear();
    network = std::make_unique<net::StubNetwork>(ranks, 1);
    std::string wrong;
    arena = net::Arena::make(uint64_t{1} << 30, &wrong);
    ASSERT_EQ(wrong, "");
    for (const int rank : {0, 2, 3, 4})
      all.push_back(std::make_unique<Rank>(rank, network.get(), arena));
    for (const auto& each : all) each->window->find_nears();  // except the one to come
  }
  Window& window(int rank) { return *all[static_cast<size_t>(rank == 0 ? 0 : rank - 1)]->window; }
  Commons& commons() { return *window(target).own().commons; }
  template <class Done>
  bool run(Done done) {
    while (!done()) {
      bool any = false;
      for (const auto& each : all) any = each->engine->poll() || any;
      if (!any && network->draw() < 0) return done();
    }
    return true;
  }
  void tell_of_the_end() {
    for (const auto& each : all) each->engine->ended(1);
  }

  // Runs `does` as rank 1 in a process, one instruction at a time, until `stop` returns true; then
  // kills it. Returns false if it finished before.
  template <class Does, class Stop>
  bool killed_on_its_way(Does does, Stop stop) {
    const pid_t child = fork();
    if (child == 0) {
      Rank own(1, network.get(), arena);
      if (!own.window->find_nears()) _exit(2);
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(3);
      raise(SIGSTOP);
      does(*own.window);
      _exit(0);
    }
    int status = 0;
    bool killed = false;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
      if (stop()) {
        killed = true;
        kill(child, SIGKILL);
      }
      ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
    }
    may_trace = may_trace && (killed || WEXITSTATUS(status) != 3);
    EXPECT_TRUE(killed || !may_trace || WEXITSTATUS(status) == 0);
    return killed;
  }

  // Returns the results of a lock request by each of the others; -1 if it waits forever.
  std::vector<int> locks_of(std::initializer_list<int> origins) {
    std::vector<int> found;
    for (const int origin : origins) {
      window(origin).lock(target, LockType::exclusive, false);
      const Mark taken = window(origin).lock_now(target);
      const bool came = run([&] { return window(origin).reached(target, taken); });
      const Status status = window(origin).take_error(target);
      const Mark given = window(origin).unlock(target);
      const bool went = run([&] { return window(origin).reached(target, given); });
      found.push_back(came && went ? static_cast<int>(status) : -1);
    }
    return found;
  }

  std::unique_ptr<net::StubNetwork> network;
  std::shared_ptr<net::Arena> arena;
  std::vector<std::unique_ptr<Rank>> all;
  bool may_trace = true;
};

constexpr int lost = static_cast<int>(Status::lost_lock);
// Tests one in this many instructions; sanitizers multiply them.
constexpr int sparse = sanitized ? 61 : 1;

void lock_and_unlock(Window& window, LockType type) {
  window.lock(target, type, false);
  window.lock_now(target);
  window.unlock(target);
}

TEST_F(KilledRank, WhileItTakesALockOrGivesItBack) {
  for (const LockType type : {LockType::shared, LockType::exclusive}) {
    int instructions = 0;
    for (bool killed = true; killed; instructions += killed ? sparse : 0) {
      begin();
      int unsure = 0;
      killed = killed_on_its_way([&](Window& window) { lock_and_unlock(window, type); },
                                 [&] {
                                   unsure += commons().of_ranks()[1].holds == Held::unsure;
                                   return unsure > instructions;
                                 });
      if (!may_trace) GTEST_SKIP() << "processes may not be traced";
      if (!killed) break;
      // One of them is waiting when the death is reported, the others come later.
      window(0).lock(target, LockType::shared, false);
      const Mark waits = window(0).lock_now(target);
      window(far).lock(target, LockType::exclusive, false);
      const Mark far_waits = window(far).lock_now(target);
      run([] { return false; });
      tell_of_the_end();
      EXPECT_TRUE(run([&] { return window(0).reached(target, waits); }));
      EXPECT_TRUE(run([&] { return window(far).reached(target, far_waits); }));
      EXPECT_EQ(window(0).take_error(target), waits != 0 ? Status::lost_lock : Status::ok);
      window(0).unlock(target);
      EXPECT_EQ(window(far).take_error(target), Status::lost_lock);
      const Mark unlocked = window(far).unlock(target);
      EXPECT_TRUE(run([&] { return window(far).reached(target, unlocked); }));
      EXPECT_EQ(locks_of({0, 2, target, far}), std::vector(4, lost));
    }
    EXPECT_GT(instructions, 4);  // on the way in and on the way out
  }
}

// It releases its lock, which gives another rank its turn.
TEST_F(KilledRank, WhileItGrantsALock) {
  for (const int next : {0, far}) {
    int instructions = 0;
    for (bool killed = true; killed; instructions += killed ? 3 * sparse : 0) {
      begin();
      Mark waits = 0;
      int granting = 0;
      // The others have earlier tickets: the child grants the lock in turn, to the first of them.
      ASSERT_TRUE(commons().lock.try_take(LockType::exclusive));
      window(next).lock(target, LockType::exclusive, false);
      waits = window(next).lock_now(target);
      run([] { return false; });
      killed = killed_on_its_way(
          [&](Window& window) {
            Near& near = *window.near(target);
            near.lock_taken(LockType::exclusive);  // the one that was taken above
            window.unlock(target);
          },
          [&] {
            granting += commons().granting != 0;
            return granting > instructions;
          });
      if (!may_trace) GTEST_SKIP() << "processes may not be traced";
      if (!killed) break;
      tell_of_the_end();
      EXPECT_TRUE(run([&] { return window(next).reached(target, waits); }));
      const Status status = window(next).take_error(target);
      EXPECT_TRUE(status == Status::ok || status == Status::lost_lock);
      const Mark unlocked = window(next).unlock(target);
      EXPECT_TRUE(run([&] { return window(next).reached(target, unlocked); }));
      EXPECT_EQ(locks_of({0, 2, target, far}), std::vector(4, lost));
    }
    EXPECT_GT(instructions, 4);
  }
}

// After any instruction at which it holds the mutex, nobody knows what it has done.
TEST_F(KilledRank, WhileItAccumulates) {
  const auto add = [](Window& window) {
    const uint64_t one = 1;
    Transfer transfer{.kind = Kind::accumulate,
                      .target = target,
                      .length = sizeof one,
                      .data = reinterpret_cast<const std::byte*>(&one),
                      .element = Element::uint64,
                      .operation = Operation::sum};
    window.issue(&transfer);
  };
  int instructions = 0;
  for (bool killed = true; killed; instructions += killed ? 3 * sparse : 0) {
    begin();
    const auto& word = reinterpret_cast<const std::atomic<uint32_t>&>(commons().elements);
    int held = 0;
    killed = killed_on_its_way(add, [&] {
      held += word != 0;
      return held > instructions;
    });
    if (!may_trace) GTEST_SKIP() << "processes may not be traced";
    tell_of_the_end();
    std::vector<Status> found;
    for (const int origin : {0, 2, far}) {
      add(window(origin));
      const Mark mark = window(origin).flush(target);
      EXPECT_TRUE(run([&] { return window(origin).reached(target, mark); }));
      found.push_back(window(origin).take_error(target));
    }
    EXPECT_EQ(found, std::vector(3, killed ? Status::half_done : Status::ok)) << instructions;
  }
  EXPECT_GT(instructions, 4);
}

// Its parent may be stopped, or never ask.
TEST(SharedWords, AMutexIsTakenFromAProcessThatHasEndedThoughItsParentDoesNotKnow) {
  const auto shared =
      mmap(nullptr, sizeof(Mutex), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& mutex = *static_cast<Mutex*>(shared);
  const pid_t holder = fork();
  if (holder == 0) _exit(mutex.try_lock(static_cast<uint32_t>(getpid())) ? 0 : 1);
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(holder), &end, WEXITED | WNOWAIT), 0);
  if (const int pidfd = net::process_descriptor(holder); pidfd >= 0) {
    close(pidfd);
    const pid_t next = fork();
    if (next == 0) {
      alarm(20);  // where it would wait forever
      mutex.lock_or_take_over(static_cast<uint32_t>(getpid()));
      mutex.unlock();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(next, &status, 0), next);
    EXPECT_TRUE(WIFEXITED(status)) << status;
  }
  waitpid(holder, nullptr, 0);
  munmap(shared, sizeof(Mutex));
}

// After any other instruction its lock is free, or was never its own.
TEST_F(KilledRank, AnywhereElseLeavesNothingBehind) {
  const int apart = sanitized && !in_long_test ? 3 * 17 : 17;
  int steps = 0;
  for (int at = 0; at >= 0; at += apart * sparse) {
    begin();
    steps = 0;
    const bool killed = killed_on_its_way(
        [&](Window& window) { lock_and_unlock(window, LockType::exclusive); },
        [&] { return ++steps > at && commons().of_ranks()[1].holds != Held::unsure; });
    if (!may_trace) GTEST_SKIP() << "processes may not be traced";
    if (!killed) break;
    tell_of_the_end();
    EXPECT_EQ(locks_of({0, 2, target, far}), std::vector(4, 0)) << at;
  }
  EXPECT_GT(steps, 100);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
