// Words that processes synchronise by: whatever the interleaving, they exclude, and nobody sleeps
// forever.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "rma/locks.h"
#include "rma/shared_words.h"

namespace nearcache::rma {
namespace {

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
      mutex.lock(static_cast<uint32_t>(getpid()));
      ++count;
      if (i % 1000 == 0) std::this_thread::yield();  // others come to sleep
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
    mutex->lock(static_cast<uint32_t>(getpid()));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  mutex->lock(static_cast<uint32_t>(getpid()));
  mutex->unlock();
  mutex->lock(static_cast<uint32_t>(getpid()));
  munmap(shared, 4096);
}

// Threads that take the word, and one hand that serves the queue of those who do not get it, as an
// owner's agent does.
TEST(LockWord, ExcludesThoseWhoTakeItAndThoseWhoWait) {
  constexpr int times = 600;
  LockWord word{};
  Locks locks(&word);
  std::mutex owner;
  std::atomic<bool> granted[threads] = {};
  uint64_t written = 0;
  std::atomic<int> readers = 0;
  std::atomic<int> by_queue = 0;
  const auto grant = [&] {  // under `owner`
    while (const std::optional<int> next = locks.grant_next()) granted[*next] = true;
  };
  everybody([&](int thread) {
    for (int i = 0; i < times; ++i) {
      const LockType type = (i + thread) % 3 == 0 ? LockType::exclusive : LockType::shared;
      const bool at_once = word.try_take(type);
      if (!at_once) {
        const std::lock_guard lock(owner);
        granted[thread] = locks.ask(thread, type);
        if (!granted[thread]) grant();
        ++by_queue;
      }
      while (!at_once && !granted[thread]) std::this_thread::yield();
      if (type == LockType::exclusive) {
        ASSERT_EQ(readers.load(), 0);
        ++written;
      } else {
        ++readers;
        if (i % 64 == 0) std::this_thread::yield();
        --readers;
      }
      if (!at_once) {
        const std::lock_guard lock(owner);
        ASSERT_TRUE(locks.release(thread));
        grant();
      } else if (word.release(type)) {
        const std::lock_guard lock(owner);
        grant();
      }
    }
  });
  EXPECT_EQ(written, static_cast<uint64_t>(times / 3 * threads));
  EXPECT_GT(by_queue.load(), 0);
  EXPECT_TRUE(word.try_take(LockType::exclusive));  // all were given back
  EXPECT_FALSE(word.try_take(LockType::shared));
}

TEST(LockWord, WhoWaitsIsNotPassedBy) {
  LockWord word{};
  Locks locks(&word);
  ASSERT_TRUE(word.try_take(LockType::shared));
  EXPECT_FALSE(locks.ask(1, LockType::exclusive));
  EXPECT_FALSE(word.try_take(LockType::shared));
  EXPECT_FALSE(locks.ask(2, LockType::shared));
  EXPECT_EQ(locks.grant_next(), std::nullopt);
  EXPECT_TRUE(word.release(LockType::shared));  // somebody must be told
  EXPECT_EQ(locks.grant_next(), 1);
  EXPECT_EQ(locks.grant_next(), std::nullopt);
  EXPECT_TRUE(locks.release(1));
  EXPECT_EQ(locks.grant_next(), 2);
  EXPECT_TRUE(word.try_take(LockType::shared));
  EXPECT_FALSE(word.release(LockType::shared));
  locks.forget(2);
  EXPECT_TRUE(word.try_take(LockType::exclusive));
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

}  // namespace
}  // namespace nearcache::rma
