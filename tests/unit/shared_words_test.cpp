// Words by which processes synchronise: whatever the interleaving, they exclude, and no process
// sleeps forever.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "rma/commons.h"
#include "rma/lock_queue.h"
#include "rma/locks.h"
#include "rma/shared_words.h"

namespace nearcache::rma {
namespace TEST_FILE {

constexpr int threads = 4;

template <class Body>
void everybody(Body body) {
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&body, thread] { body(thread); });
  for (std::thread& thread : all) thread.join();
}

TEST(Mutex, Excludes) {
  Mutex mutex{};
  uint64_t count = 0;
  everybody([&](int) {
    for (int i = 0; i < 20000; ++i) {
      mutex.lock_or_take_over(static_cast<uint32_t>(getpid()));
      ++count;
      if (i % 1000 == 0) std::this_thread::yield();  // others get to sleep
      mutex.unlock();
    }
  });
  EXPECT_EQ(count, 20000u * threads);
}

TEST(Mutex, OfAProcessThatHasDiedIsTakenOver) {
  void* const shared =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const mutex = new (shared) Mutex{};
  const pid_t child = fork();
  if (child == 0) {
    mutex->lock_or_take_over(static_cast<uint32_t>(getpid()));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  mutex->lock_or_take_over(static_cast<uint32_t>(getpid()));
  mutex->unlock();
  mutex->lock_or_take_over(static_cast<uint32_t>(getpid()));
  munmap(shared, 4096);
}

// All waiting processes are notified, and so are later ones.
TEST(Mutex, OfAProcessThatHasDiedIsSpoiltWhereItMustBeIntact) {
  void* const shared =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const mutex = new (shared) Mutex{};
  const auto process = static_cast<uint32_t>(getpid());
  EXPECT_TRUE(mutex->lock_intact(process));
  mutex->unlock();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool locked = mutex->lock_intact(static_cast<uint32_t>(getpid()));
    [[maybe_unused]] const ssize_t told = write(ends[1], "", 1);
    usleep(50000);
    _exit(locked ? 0 : 1);
  }
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  std::thread reaper([child] {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  everybody([&](int) { EXPECT_FALSE(mutex->lock_intact(process)); });
  reaper.join();
  EXPECT_FALSE(mutex->lock_intact(process));
  close(ends[0]);
  close(ends[1]);
  munmap(shared, 4096);
}

// A lock with its surroundings: this many ranks of a node, each with a place of its own.
struct Shared {
  Commons commons{};
  Commons::OfRank places[threads]{};

  LockQueue queue() { return LockQueue(&commons, threads, static_cast<uint32_t>(getpid())); }
  LockWord& word() { return commons.lock; }
};
static_assert(offsetof(Shared, places) == sizeof(Commons));

// Some threads wait by words, as ranks of a node do; others are granted the lock by one thread that
// serves their queue, as an owner's agent does for far ranks.
TEST(LockQueue, ExcludesNearAndFarAndForgetsNobody) {
  constexpr int times = 600, most_times = 1000 * times, near = threads / 2;
  Shared shared;
  Locks locks(&shared.word(), shared.queue());
  std::mutex owner;
  std::atomic<bool> granted[threads] = {};
  uint64_t written = 0;
  std::atomic<uint64_t> writes = 0;
  std::atomic<int> readers = 0, waited[2] = {};
  const auto nobody_waited = [&] { return waited[0] == 0 || waited[1] == 0; };
  const auto serve = [&] {
    const std::lock_guard lock(owner);
    do {
      shared.queue().grant([](size_t) {});
    } while ([&] {
      const std::optional<int> next = locks.grant_next();
      if (next) granted[*next] = true;
      return next.has_value();
    }());
  };
  const auto hand_over = [&] {
    bool far = false;
    shared.queue().grant([&](size_t who) { far = far || who == threads; });
    if (far) serve();
  };
  const auto take = [&](int thread, LockType type) {
    if (shared.word().try_take(type)) return true;
    ++waited[thread < near];
    if (thread < near) {
      shared.queue().enter(static_cast<size_t>(thread), type);
      hand_over();
      while (shared.queue().waits(static_cast<size_t>(thread))) std::this_thread::yield();
      return true;
    }
    {
      const std::lock_guard lock(owner);
      granted[thread] = locks.ask(thread, type);
    }
    if (!granted[thread]) serve();
    while (!granted[thread]) std::this_thread::yield();
    return false;
  };
  everybody([&](int thread) {
    for (int i = 0; i < times || (nobody_waited() && i < most_times); ++i) {
      const LockType type = (i + thread) % 3 == 0 ? LockType::exclusive : LockType::shared;
      const bool by_word = take(thread, type);
      if (type == LockType::exclusive) {
        ASSERT_EQ(readers.load(), 0);
        ++written, ++writes;
        if (i % 16 == 0) std::this_thread::yield();
      } else {
        ++readers;
        if (i % 16 == 1) std::this_thread::yield();
        --readers;
      }
      if (by_word) {
        if (shared.word().release(type)) hand_over();
      } else {
        {
          const std::lock_guard lock(owner);
          ASSERT_TRUE(locks.release(thread));
        }
        serve();
      }
    }
  });
  EXPECT_EQ(written, writes.load());
  EXPECT_GT(waited[0].load(), 0);
  EXPECT_GT(waited[1].load(), 0);
  EXPECT_TRUE(shared.word().try_take(LockType::exclusive));  // all were released
  EXPECT_FALSE(shared.word().release(LockType::exclusive));
}

TEST(LockQueue, GrantsInTheOrderInWhichTheyCame) {
  Shared shared;
  LockQueue queue = shared.queue();
  Locks locks(&shared.word(), queue);
  std::vector<size_t> granted;
  const auto grant = [&] {
    granted.clear();
    queue.grant([&](size_t who) { granted.push_back(who); });
    return granted;
  };
  using Places = std::vector<size_t>;
  shared.commons.tickets = UINT32_MAX / 4 - 1;  // the numbers wrap on the way
  ASSERT_TRUE(shared.word().try_take(LockType::shared));
  queue.enter(2, LockType::exclusive);
  EXPECT_FALSE(shared.word().try_take(LockType::shared));  // waiting ranks are not overtaken
  queue.enter(0, LockType::shared);
  EXPECT_FALSE(locks.ask(7, LockType::shared));
  EXPECT_FALSE(locks.ask(8, LockType::exclusive));
  queue.enter(1, LockType::shared);
  EXPECT_EQ(grant(), Places{});
  EXPECT_TRUE(shared.word().release(LockType::shared));
  EXPECT_EQ(grant(), Places{2});
  EXPECT_EQ(shared.places[2].holds, Held::exclusive);
  EXPECT_FALSE(queue.waits(2));
  EXPECT_TRUE(queue.waits(0));
  EXPECT_EQ(locks.grant_next(), std::nullopt);
  EXPECT_TRUE(shared.word().release(LockType::exclusive));
  EXPECT_EQ(grant(), (Places{0, queue.owner(), 1}));
  EXPECT_EQ(locks.grant_next(), 7);
  EXPECT_EQ(grant(), Places{});  // 8 excludes those that share it
  EXPECT_TRUE(locks.release(7));
  EXPECT_TRUE(shared.word().release(LockType::shared));
  EXPECT_EQ(grant(), Places{});
  EXPECT_TRUE(shared.word().release(LockType::shared));
  EXPECT_EQ(grant(), Places{queue.owner()});
  EXPECT_EQ(locks.grant_next(), 8);
  EXPECT_TRUE(locks.release(8));
  EXPECT_TRUE(shared.word().try_take(LockType::shared));
  EXPECT_FALSE(shared.word().release(LockType::shared));
}

TEST(LockQueue, WhoIsGoneWaitsNoMore) {
  Shared shared;
  LockQueue queue = shared.queue();
  Locks locks(&shared.word(), queue);
  const auto grant = [&] { queue.grant([](size_t) {}); };
  ASSERT_TRUE(shared.word().try_take(LockType::exclusive));
  queue.enter(1, LockType::exclusive);
  EXPECT_FALSE(locks.ask(7, LockType::exclusive));
  EXPECT_FALSE(locks.ask(8, LockType::shared));
  EXPECT_TRUE(queue.leave(1));
  EXPECT_FALSE(queue.leave(1));
  locks.forget(7);
  shared.word().release(LockType::exclusive);
  grant();
  EXPECT_EQ(locks.grant_next(), 8);
  // Its turn has come, but it does not know yet.
  EXPECT_FALSE(locks.ask(9, LockType::exclusive));
  EXPECT_TRUE(locks.release(8));
  grant();
  locks.forget(9);
  EXPECT_TRUE(shared.word().try_take(LockType::exclusive));
  // The last one leaves.
  queue.enter(0, LockType::shared);
  EXPECT_TRUE(queue.leave(0));
  EXPECT_FALSE(shared.word().release(LockType::exclusive));
  EXPECT_TRUE(shared.word().try_take(LockType::shared));
}

TEST(Doorbell, WakesWhoeverWaits) {
  Doorbell bell{};
  std::atomic<uint32_t> word{0};
  constexpr uint32_t rounds = 2000;
  constexpr uint64_t long_ns = 60000000000;
  std::thread other([&] {
    for (uint32_t i = 1; i < rounds; i += 2) {
      while (word.load() != i) bell.wait([&] { return word.load() == i; }, long_ns);
      word.store(i + 1);
      bell.ring();
    }
  });
  for (uint32_t i = 0; i < rounds; i += 2) {
    while (word.load() != i) bell.wait([&] { return word.load() == i; }, long_ns);
    word.store(i + 1);
    bell.ring();
  }
  other.join();
  EXPECT_EQ(word.load(), rounds);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
