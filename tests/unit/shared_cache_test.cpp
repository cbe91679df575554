// One cache of several ranks: what one fetched serves others, but only those for which it is new
// enough, whichever rank is killed meanwhile.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "cache/get/cached_window.h"
#include "cache/shared/shared_cache.h"
#include "sanitized.h"

namespace nearcache {
namespace TEST_FILE {

// Memory shared with this process's children.
class Shared {
 public:
  explicit Shared(uint64_t bytes)
      : bytes_(bytes),
        base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Shared() { munmap(base_, bytes_); }
  std::byte* base() const { return static_cast<std::byte*>(base_); }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_;
  void* base_;
};

SharedCache::Plan small_plan(uint32_t ranks, uint64_t storage = 1 << 20, uint64_t index = 4096) {
  SharedCache::Plan plan;
  plan.ranks = ranks;
  plan.limit = 16 << 20;
  plan.settings.storage_bytes = storage;
  plan.settings.index_capacity = index;
  return plan;
}

SharedCache::Plan growing_plan(uint32_t ranks, uint64_t storage, uint64_t index) {
  SharedCache::Plan plan = small_plan(ranks, storage, index);
  plan.settings.tuner.interval = 256;
  plan.settings.tuner.adaptive = true;
  return plan;
}

struct Node {
  explicit Node(const SharedCache::Plan& plan) : memory(SharedCache::bytes_for(plan)) {
    SharedCache::make(memory.base(), plan);
  }
  std::unique_ptr<SharedCache> join() {
    std::string wrong;
    auto cache = SharedCache::join(memory.base(), memory.bytes(), &budget, &wrong);
    EXPECT_EQ(wrong, "");
    return cache;
  }
  Shared memory;
  MemoryBudget budget;
};

Key key_at(int64_t displacement, uint32_t target = 1) { return {displacement, target, 0}; }

std::vector<std::byte> bytes_of(uint64_t count, int seed) {
  std::vector<std::byte> bytes(count);
  for (uint64_t at = 0; at < count; ++at)
    bytes[at] = static_cast<std::byte>(at * 31 + static_cast<uint64_t>(seed));
  return bytes;
}

Shard::Published publish(SharedCache& by, const Key& key, const std::vector<std::byte>& data,
                         uint64_t stamp) {
  return by.publish(key, hash_key(key), data.data(), data.size(), stamp, {}).how;
}

// Returns what a rank that has written nothing is served; empty if nothing.
std::vector<std::byte> get(SharedCache& by, const Key& key, uint64_t bytes,
                           const WriteLog& writes) {
  SharedCache::Found found;
  std::vector<std::byte> data(bytes);
  if (!by.find(hash_key(key), key, bytes, &found) ||
      (!by.is_sure(found.said) &&
       (found.said.stamp < by.floor() ||
        by.overwritten(found.said, key.displacement, key.displacement + static_cast<int64_t>(bytes),
                       writes))) ||
      !by.copy(found, bytes, data.data()))
    return {};
  by.count_hit(found);
  return data;
}

const WriteLog& no_writes() {
  static const auto log = std::make_unique<WriteLog>(WriteLog());
  return *log;
}

TEST(SharedCache, WhatOneFetchedServesAnother) {
  Node node(small_plan(2));
  const auto a = node.join(), b = node.join();
  const auto data = bytes_of(100, 1);
  EXPECT_TRUE(get(*b, key_at(64), 100, no_writes()).empty());
  EXPECT_EQ(publish(*a, key_at(64), data, a->clock()), Shard::Published::stored);
  EXPECT_EQ(get(*b, key_at(64), 100, no_writes()), data);
  EXPECT_EQ(b->hits_of_others(), 1u);
  EXPECT_EQ(get(*a, key_at(64), 100, no_writes()), data);
  EXPECT_EQ(a->hits_of_others(), 0u);
  // a shorter get with the same start, but not a longer one
  EXPECT_EQ(get(*b, key_at(64), 40, no_writes()), bytes_of(40, 1));
  EXPECT_TRUE(get(*b, key_at(64), 101, no_writes()).empty());
  EXPECT_TRUE(get(*b, key_at(64, 2), 100, no_writes()).empty());
  EXPECT_EQ(a->check(), nullptr);
}

TEST(SharedCache, WhatIsReplacedWhileItIsCopiedIsNotBelieved) {
  Node node(small_plan(2));
  const auto a = node.join(), b = node.join();
  const Key key = key_at(64);
  publish(*a, key, bytes_of(100, 1), a->clock());
  SharedCache::Found found;
  std::vector<std::byte> data(100);
  ASSERT_TRUE(b->find(hash_key(key), key, 100, &found));
  EXPECT_TRUE(b->copy(found, 100, data.data()));
  publish(*a, key, bytes_of(100, 2), a->advance());
  EXPECT_FALSE(b->copy(found, 100, data.data()));
  EXPECT_EQ(get(*b, key, 100, no_writes()), bytes_of(100, 2));
}

TEST(SharedCache, PartsOfEntriesServeUnlessDisplacementsAreUnits) {
  for (const bool in_bytes : {true, false}) {
    SharedCache::Plan plan = small_plan(2);
    plan.in_bytes = in_bytes;
    Node node(plan);
    const auto a = node.join(), b = node.join();
    const auto data = bytes_of(512, 3);
    publish(*a, key_at(1024), data, a->clock());
    const auto part = get(*b, key_at(1024 + 100), 8, no_writes());
    if (in_bytes) {
      EXPECT_EQ(part, std::vector(data.begin() + 100, data.begin() + 108));
      EXPECT_TRUE(get(*b, key_at(1024 + 508), 8, no_writes()).empty());
      EXPECT_TRUE(get(*b, key_at(1020), 8, no_writes()).empty());
    } else {
      EXPECT_TRUE(part.empty());
    }
  }
}

TEST(SharedCache, PartsAreListedOnceTheyAreFound) {
  Node node(small_plan(2, 8 << 20, 65536));
  const auto a = node.join(), b = node.join();
  int64_t next = 0;
  const auto publish_some = [&](int count) {
    const auto data = bytes_of(64, 3);
    for (int at = 0; at < count; ++at, next += 64) publish(*a, key_at(next), data, a->clock());
  };
  const auto parts_found = [&](int64_t from) {
    int found = 0;
    for (int64_t at = from; at < next; at += 64)
      found += !get(*b, key_at(at + 8), 8, no_writes()).empty();
    return found;
  };
  publish_some(4096);
  const int64_t unasked = next;
  publish_some(2048);
  const int few = parts_found(unasked);
  EXPECT_GT(few, 0);
  EXPECT_LT(few, 512);
  // the few that are listed are found, so more are from now on
  publish_some(1024);
  const int64_t asked = next;
  publish_some(1024);
  EXPECT_GT(parts_found(asked), 1000);
}

TEST(SharedCache, WhoInvalidatesNoLongerSeesWhatWasFetchedBefore) {
  Node node(small_plan(2));
  const auto a = node.join(), b = node.join();
  const uint64_t before = a->clock();
  publish(*a, key_at(0), bytes_of(64, 1), before);
  b->advance_floor();
  EXPECT_TRUE(get(*b, key_at(0), 64, no_writes()).empty());
  EXPECT_EQ(get(*a, key_at(0), 64, no_writes()), bytes_of(64, 1));  // it did not
  // a get issued before and completed afterwards does not help
  publish(*a, key_at(128), bytes_of(64, 2), before);
  EXPECT_TRUE(get(*b, key_at(128), 64, no_writes()).empty());
  publish(*a, key_at(0), bytes_of(64, 3), a->clock());
  EXPECT_EQ(get(*b, key_at(0), 64, no_writes()), bytes_of(64, 3));
  // older data do not replace newer data
  EXPECT_EQ(publish(*a, key_at(0), bytes_of(64, 4), before), Shard::Published::there);
  EXPECT_EQ(get(*a, key_at(0), 64, no_writes()), bytes_of(64, 3));
}

TEST(SharedCache, OwnWritesHideWhatWasFetchedBeforeTheyWereCompleted) {
  Node node(small_plan(2));
  const auto a = node.join(), b = node.join();
  WriteLog log{};
  publish(*a, key_at(0), bytes_of(64, 1), a->clock());
  publish(*a, key_at(4096), bytes_of(64, 2), a->clock());
  log.record(1, 0, 8);
  b->write_begins();
  EXPECT_TRUE(get(*b, key_at(0), 64, log).empty());
  EXPECT_EQ(get(*b, key_at(4096), 64, log), bytes_of(64, 2));
  // fetched while the write is open: perhaps without it
  const uint64_t during = a->advance();
  b->writes_completed(1, 1);
  publish(*a, key_at(0), bytes_of(64, 3), during);
  EXPECT_TRUE(get(*b, key_at(0), 64, log).empty());
  EXPECT_EQ(get(*a, key_at(0), 64, no_writes()), bytes_of(64, 3));
  publish(*a, key_at(0), bytes_of(64, 4), a->clock());
  EXPECT_EQ(get(*b, key_at(0), 64, log), bytes_of(64, 4));
  // another one is open, elsewhere
  log.record(1, 4096, 4104);
  b->write_begins();
  EXPECT_EQ(get(*b, key_at(0), 64, log), bytes_of(64, 4));
  EXPECT_TRUE(get(*b, key_at(4096), 64, log).empty());
  // numbers that start again end all
  log = WriteLog{};
  b->forget_writes();
  EXPECT_TRUE(get(*b, key_at(0), 64, log).empty());
}

TEST(SharedCache, MarksOfWritesThatAreForgottenHideMoreNeverLess) {
  Node node(small_plan(2));
  const auto a = node.join(), b = node.join();
  WriteLog log{};
  log.record(1, 0, 8);
  b->write_begins();
  b->writes_completed(1, 1);
  publish(*a, key_at(0), bytes_of(64, 1), a->clock());
  EXPECT_FALSE(get(*b, key_at(0), 64, log).empty());
  for (uint32_t write = 2; write < 60; ++write) {
    log.record(1, 4096, 4104);
    b->write_begins();
    b->writes_completed(write, write);
  }
  EXPECT_TRUE(get(*b, key_at(0), 64, log).empty());
  publish(*a, key_at(0), bytes_of(64, 2), a->clock());
  EXPECT_EQ(get(*b, key_at(0), 64, log), bytes_of(64, 2));
}

TEST(SharedCache, LayoutsHaveOneNameOnAllRanks) {
  Node node(small_plan(2));
  const auto a = node.join(), b = node.join();
  const auto layout = [](uint32_t id, int64_t extent, std::vector<Block> blocks) {
    auto made = std::make_unique<Layout>();
    made->id = id, made->extent = extent, made->blocks = std::move(blocks);
    return made;
  };
  const auto of_a = layout(7, 64, {{0, 8}, {32, 8}}), other = layout(8, 128, {{0, 8}, {32, 8}});
  const auto of_b = layout(3, 64, {{0, 8}, {32, 8}}), third = layout(7, 64, {{0, 8}, {40, 8}});
  EXPECT_NE(a->name(*of_a), 0u);
  EXPECT_EQ(a->name(*of_a), b->name(*of_b));
  EXPECT_NE(a->name(*other), a->name(*of_a));
  EXPECT_NE(b->name(*third), b->name(*of_b));
  EXPECT_NE(b->name(*third), a->name(*other));
  // writes beyond the room for them get none
  bool refused = false;
  for (uint32_t id = 10; id < 3000; ++id) {
    const uint32_t name = a->name(*layout(id, id, {{0, 8}, {32, 8}}));
    refused = refused || name == SharedCache::no_name;
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(b->name(*of_b), a->name(*of_a));
}

TEST(SharedCache, LargeEntriesAreCopiedWithoutTheLock) {
  Node node(small_plan(2, 4 << 20));
  const auto a = node.join(), b = node.join();
  const auto data = bytes_of(300000, 5);
  EXPECT_EQ(publish(*a, key_at(0), data, a->clock()), Shard::Published::stored);
  EXPECT_EQ(get(*b, key_at(0), data.size(), no_writes()), data);
  const auto again = bytes_of(300000, 6);
  publish(*b, key_at(0), again, b->advance());
  EXPECT_EQ(get(*a, key_at(0), data.size(), no_writes()), again);
  EXPECT_EQ(a->check(), nullptr);
}

constexpr uint64_t large = 300000;  // copied without the lock

// A process that dies while it copies an entry without the lock, at the second half of what it
// reads. Until it is waited for, its number stays taken, as if by another process.
pid_t die_copying(Node* node, const Key& key) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    const auto cache = node->join();
    auto* half = static_cast<std::byte*>(
        mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(half + 155648, large - 155648, PROT_NONE);
    cache->publish(key, hash_key(key), half, large, cache->clock(), {});
    _exit(0);
  }
  siginfo_t how{};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT), 0);
  EXPECT_NE(how.si_code, CLD_EXITED);
  return child;
}

// A process that holds the locks of all shards until it is killed.
pid_t hold_locks(SharedCache& cache) {
  Shared flag(sizeof(std::atomic<int>));
  auto* held = reinterpret_cast<std::atomic<int>*>(flag.base());
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint32_t at = 0; at < cache.shards(); ++at) cache.lock_of_shard(at).lock();
    held->store(1);
    alarm(30);  // so that a process that waits for it fails
    for (;;) pause();
  }
  while (held->load() == 0) usleep(100);
  return child;
}

void end(pid_t child) {
  int status = 0;
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, &status, 0), child);
}

TEST(SharedCache, WhatADeadRankBeganToCopyIsStoredByTheNextThoughItsNumberIsInUse) {
  Node node(small_plan(2, 4 << 20));
  const auto a = node.join();
  const auto data = bytes_of(large, 5);
  const pid_t child = die_copying(&node, key_at(0));
  EXPECT_TRUE(get(*a, key_at(0), large, no_writes()).empty());
  EXPECT_EQ(publish(*a, key_at(0), data, a->clock()), Shard::Published::stored);
  EXPECT_EQ(get(*a, key_at(0), large, no_writes()), data);
  EXPECT_EQ(a->check(), nullptr);
  end(child);
}

TEST(SharedCache, AShardBeginsAnewWhereWhoCopiedIntoItIsDeadThoughItsNumberIsInUse) {
  Node node(small_plan(2, 4 << 20));
  const auto a = node.join();
  const pid_t child = die_copying(&node, key_at(0));
  end(hold_locks(*a));
  EXPECT_EQ(publish(*a, key_at(0), bytes_of(large, 5), a->clock()), Shard::Published::stored);
  EXPECT_EQ(a->sizes().resets, a->shards());
  end(child);
}

TEST(SharedCache, NobodyWaitsForARankThatIsStoppedWithALock) {
  Node node(small_plan(2, 4 << 20));
  const auto a = node.join();
  const pid_t child = hold_locks(*a);
  EXPECT_EQ(publish(*a, key_at(0), bytes_of(64, 1), a->clock()), Shard::Published::refused);
  EXPECT_EQ(publish(*a, key_at(0), bytes_of(64, 1), a->clock()), Shard::Published::refused);
  end(child);
  EXPECT_EQ(publish(*a, key_at(0), bytes_of(64, 1), a->clock()), Shard::Published::stored);
  EXPECT_EQ(get(*a, key_at(0), 64, no_writes()), bytes_of(64, 1));
}

// While a rank copies without the lock, and until it has waited in vain for it, another one has it.
struct HeldMeanwhile {
  SharedCache* cache;
  std::byte* half;  // of what is copied: cannot be read before the other has the lock
  std::atomic<int>* state;
  pid_t holder;
} held_meanwhile;

void hold_meanwhile(int) {
  HeldMeanwhile& its = held_meanwhile;
  its.holder = fork();
  if (its.holder == 0) {
    alarm(30);
    for (uint32_t at = 0; at < its.cache->shards(); ++at) its.cache->lock_of_shard(at).lock();
    its.state->store(1);
    while (its.state->load() == 1) usleep(100);
    for (uint32_t at = 0; at < its.cache->shards(); ++at) its.cache->lock_of_shard(at).unlock();
    _exit(0);
  }
  while (its.state->load() == 0) usleep(100);
  mprotect(its.half, large - 155648, PROT_READ | PROT_WRITE);
}

TEST(SharedCache, WhatARankCouldNotCompleteForWantOfTheLockTakesNoRoomForLong) {
  Node node(small_plan(2, 4 << 20));
  Shared state(sizeof(std::atomic<int>));
  const auto a = node.join();
  auto* data = static_cast<std::byte*>(
      mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  held_meanwhile = {a.get(), data + 155648, reinterpret_cast<std::atomic<int>*>(state.base()), 0};
  mprotect(held_meanwhile.half, large - 155648, PROT_NONE);
  struct sigaction action {
  }, before{};
  action.sa_handler = hold_meanwhile;
  sigaction(SIGSEGV, &action, &before);
  EXPECT_EQ(a->publish(key_at(0), hash_key(key_at(0)), data, large, a->clock(), {}).how,
            Shard::Published::refused);
  sigaction(SIGSEGV, &before, nullptr);
  held_meanwhile.state->store(2);
  EXPECT_EQ(waitpid(held_meanwhile.holder, nullptr, 0), held_meanwhile.holder);
  EXPECT_GE(a->sizes().stored_bytes, large);
  EXPECT_EQ(publish(*a, key_at(64), bytes_of(64, 1), a->clock()), Shard::Published::stored);
  EXPECT_LT(a->sizes().stored_bytes, large);
  EXPECT_EQ(a->check(), nullptr);
  munmap(data, large);
}

// Returns the number of its pages that use memory.
uint64_t touched_pages(const Shared& memory) {
  std::vector<unsigned char> pages((memory.bytes() + Shard::page - 1) / Shard::page);
  EXPECT_EQ(mincore(memory.base(), memory.bytes(), pages.data()), 0);
  return static_cast<uint64_t>(std::ranges::count_if(pages, [](auto page) { return page & 1; }));
}

TEST(SharedCache, TakesMemoryWhereSomethingIsStored) {
  Node node(small_plan(16));
  const auto a = node.join(), b = node.join();
  EXPECT_EQ(a->sizes().resets, 0u);
  EXPECT_EQ(a->check(), nullptr);
  const SharedCache::Sizes before = a->sizes();
  // the common header, the members' locks, and a word of each shard that says it is not initialised
  EXPECT_LE(touched_pages(node.memory), 4u + a->shards());
  for (int at = 0; at < 256; ++at) publish(*a, key_at(at * 32768), bytes_of(100, at), a->clock());
  EXPECT_GT(touched_pages(node.memory), 4u + 4 * a->shards());
  const SharedCache::Sizes sizes = b->sizes();
  EXPECT_EQ(sizes.entries, 256u);
  EXPECT_EQ(sizes.storage_bytes, before.storage_bytes);
  EXPECT_EQ(sizes.index_entries, before.index_entries);
}

// A process that dies while it initialises a shard, holding the lock for that.
TEST(SharedCache, WhatIsHalfMadeByADeadRankIsMadeAnew) {
  const SharedCache::Plan plan = small_plan(2);
  Node other(plan), node(plan);
  const auto a = node.join(), b = other.join();
  const auto lock = reinterpret_cast<std::byte*>(&b->lock_of_shard(0)) - other.memory.base();
  std::byte* const shard = node.memory.base() + lock / int64_t{Shard::page} * int64_t{Shard::page};
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    // the engine is written first, and lies behind the published part of its entries
    mprotect(shard + Shard::page, 2 * plan.limit, PROT_NONE);
    a->lock_of_shard(0);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
  for (int at = 0; at < 64; ++at) {
    ASSERT_EQ(publish(*a, key_at(at * 32768), bytes_of(100, at), a->clock()),
              Shard::Published::stored);
    EXPECT_EQ(get(*a, key_at(at * 32768), 100, no_writes()), bytes_of(100, at));
  }
  EXPECT_EQ(a->sizes().resets, 0u);
  EXPECT_EQ(a->check(), nullptr);
}

TEST(SharedCache, MemoryIsCountedByTheRanksInParts) {
  SharedCache::Plan plan = small_plan(4);
  Node node(plan);
  {
    const auto a = node.join();
    const uint64_t part = node.budget.used();
    EXPECT_GT(part, uint64_t{1} << 18);  // of 1 MiB of storage
    const auto b = node.join();
    EXPECT_EQ(node.budget.used(), 2 * part);
  }
  EXPECT_EQ(node.budget.used(), 0u);
  node.budget.set_limit(1000);
  std::string wrong;
  EXPECT_EQ(SharedCache::join(node.memory.base(), node.memory.bytes(), &node.budget, &wrong),
            nullptr);
  EXPECT_NE(wrong.find("max_storage"), std::string::npos);
}

TEST(SharedCache, MemoryOfAnotherVersionIsLeftAlone) {
  Shared memory(1 << 20);
  MemoryBudget budget;
  std::string wrong;
  EXPECT_EQ(SharedCache::join(memory.base(), memory.bytes(), &budget, &wrong), nullptr);
  EXPECT_NE(wrong.find("version"), std::string::npos);
}

TEST(SharedCache, GrowsForAllRanksWithinItsLimit) {
  const SharedCache::Plan plan = growing_plan(2, 256 << 10, 1024);
  Node node(plan);
  const auto a = node.join(), b = node.join();
  const uint64_t at_first = a->sizes().storage_bytes;
  for (int round = 0; round < 20; ++round) {
    for (int at = 0; at < 2000; ++at) {
      SharedCache& by = at % 2 == 0 ? *a : *b;
      if (get(by, key_at(at * 1024), 1000, no_writes()).empty())
        publish(by, key_at(at * 1024), bytes_of(1000, at), by.clock());
    }
  }
  EXPECT_GT(a->sizes().storage_bytes, at_first);
  EXPECT_LE(a->memory(), plan.limit + (1 << 20));
  EXPECT_EQ(a->check(), nullptr);
  int hits = 0;
  for (int at = 0; at < 2000; ++at) {
    const auto data = get(*a, key_at(at * 1024), 1000, no_writes());
    if (data.empty()) continue;
    EXPECT_EQ(data, bytes_of(1000, at));
    ++hits;
  }
  const SharedCache::Sizes sizes = a->sizes();
  EXPECT_GT(hits, 1000) << sizes.entries << " entries of " << sizes.index_entries << ", "
                        << sizes.stored_bytes << " bytes of " << sizes.storage_bytes;
}

TEST(SharedCache, EntriesAreFoundWhereAnotherRankHasResizedTheIndex) {
  const SharedCache::Plan plan = growing_plan(2, 512 << 10, 64);
  Node node(plan);
  const auto a = node.join(), b = node.join();
  const uint64_t at_first = a->sizes().index_entries;
  const auto all = [&](SharedCache& by, auto missed) {
    for (int at = 0; at < 2000; ++at) {
      if (get(by, key_at(at * 64), 64, no_writes()).empty()) missed(at);
    }
  };
  for (int round = 0; round < 20; ++round) {
    all(*a, [&](int at) { publish(*a, key_at(at * 64), bytes_of(64, at), a->clock()); });
  }
  ASSERT_GT(a->sizes().index_entries, at_first);
  int missed_by_a = 0, missed_by_b = 0;
  all(*a, [&](int) { ++missed_by_a; });
  all(*b, [&](int) { ++missed_by_b; });
  EXPECT_LT(missed_by_a, 1000);
  EXPECT_EQ(missed_by_a, missed_by_b);
}

// As far as the system has large pages for shared memory.
TEST(SharedCache, WhatIsInLargePagesIsAsItWas) {
  Node node(small_plan(2, 16 << 20));
  const auto a = node.join(), b = node.join();
  int hits = 0;
  for (int at = 0; at < 2000; ++at) publish(*a, key_at(at * 4096), bytes_of(4000, at), a->clock());
  for (int at = 0; at < 2000; ++at) {
    const auto data = get(*b, key_at(at * 4096), 4000, no_writes());
    if (data.empty()) continue;
    EXPECT_EQ(data, bytes_of(4000, at));
    ++hits;
  }
  EXPECT_GT(hits, 1900);
  EXPECT_EQ(a->check(), nullptr);
}

TEST(SharedCache, MemoryOfShardsThatBeganAnewIsCountedAnew) {
  const SharedCache::Plan plan = growing_plan(2, 256 << 10, 1024);
  Node node(plan);
  const auto a = node.join();
  const auto fill = [&](int count) {
    for (int at = 0; at < count; ++at)
      publish(*a, key_at(at * 1024), bytes_of(1000, at), a->clock());
  };
  const uint64_t at_first = a->memory();
  for (int round = 0; round < 20; ++round) fill(2000);
  const uint64_t grown = a->memory();
  EXPECT_GT(grown, at_first + (256 << 10));
  end(hold_locks(*a));
  fill(100);
  EXPECT_EQ(a->sizes().resets, a->shards());
  EXPECT_LT(a->memory(), at_first + (grown - at_first) / 2);
}

TEST(SharedCache, ThePolicyHearsOfHitsOfAllRanks) {
  // one shard's worth of storage for twice as much data: what others hit repeatedly stays
  SharedCache::Plan plan = small_plan(2, 64 << 10, 1024);
  plan.settings.tuner.adaptive = false;
  Node node(plan);
  const auto a = node.join(), b = node.join();
  int hits = 0;
  for (int round = 0; round < 400; ++round) {
    for (int hot = 0; hot < 8; ++hot) {
      if (!get(*b, key_at(hot * 65536), 1000, no_writes()).empty()) {
        hits += round >= 200 ? 1 : 0;
      } else {
        publish(*b, key_at(hot * 65536), bytes_of(1000, hot), b->clock());
      }
    }
    b->tell_policy();
    for (int cold = 0; cold < 8; ++cold) {
      const Key key = key_at((int64_t{round} * 8 + cold) * 1024, 2);
      publish(*a, key, bytes_of(1000, cold), a->clock());
    }
  }
  EXPECT_GT(hits, 200 * 8 * 9 / 10);
}

// A get of contiguous bytes.
RemoteGet row_at(int64_t displacement, std::span<std::byte> to) {
  RemoteGet get{};
  get.key = key_at(displacement);
  get.hash = hash_key(get.key);
  get.bytes = to.size();
  get.from = displacement;
  get.to = displacement + static_cast<int64_t>(to.size());
  get.contiguous_target = true;
  get.origin = to.data();
  get.elements = {&byte_layout(), to.size()};
  return get;
}

// Stamps are compared with the clocks of words by 32 bits.
TEST(SharedCache, ChangesAreSeenThoughTheClockRanFarBeforeTheWordsWereRead) {
  for (const uint64_t far : {uint64_t{0}, uint64_t{3} << 30, uint64_t{1} << 32}) {
    Node node(small_plan(2));
    const auto other = node.join();
    Acquires acquires;
    acquires.quiet = true;
    Options options;
    options.mode = Mode::coherent;
    CachedWindow window({0, 2, 1, 4096}, CachingRules(options), &node.budget, &acquires,
                        CachedWindow::Data::moved);
    window.share(node.join());
    window.keep_across_acquires(Regions(4096));
    ASSERT_TRUE(window.make_cache({1024, 0}));
    window.epochs().lock_all(true);
    std::byte to[64];
    const RemoteGet get = row_at(0, to);
    const auto is_served = [&](const VersionWords& words, uint64_t ticks) {
      acquires.add(true);
      EXPECT_TRUE(window.wants_validation(1));
      other->advance(ticks);
      window.validated(1, words);
      return window.look_up(get, false).answer == CachedWindow::Answer::served;
    };
    VersionWords words{};
    words.lead = 1;
    words.own.fill(2), words.remote.fill(0);
    EXPECT_FALSE(is_served(words, 0));
    publish(*other, get.key, bytes_of(64, 1), other->clock());
    EXPECT_TRUE(is_served(words, 0));
    words.own.fill(4);
    EXPECT_FALSE(is_served(words, far)) << far;
  }
}

// What another rank fetched after this rank's last acquire may have been read before a write of
// which this rank is not notified, or before this rank's epoch began.
TEST(SharedCache, WhatOthersFetchIsTakenInQuietPhasesAndInEpochsThatHaveBegun) {
  Node node(small_plan(2));
  const auto other = node.join();
  std::byte to[64];
  const RemoteGet get = row_at(0, to);
  for (const Mode mode : {Mode::coherent, Mode::transparent, Mode::user, Mode::always}) {
    Acquires acquires;
    acquires.quiet = true;
    Options options;
    options.mode = mode;
    CachedWindow window({0, 2, 1, 4096}, CachingRules(options), &node.budget, &acquires,
                        CachedWindow::Data::moved);
    window.share(node.join());
    if (mode == Mode::coherent) window.keep_across_acquires(Regions(4096));
    ASSERT_TRUE(window.make_cache({1024, 0}));
    Epochs& epochs = window.epochs();
    const bool promised = mode == Mode::always || mode == Mode::user;
    const auto is_served = [&] {
      publish(*other, get.key, bytes_of(64, 1), other->clock());
      const bool hit = window.hit_shared(get.key, get.hash, get.bytes, to);
      const bool found = window.look_up(get, false).answer == CachedWindow::Answer::served;
      EXPECT_EQ(hit, found);
      return found;
    };
    const auto complete = [&] {
      epochs.get_issued(1);
      epochs.end(epochs.begin(Targets::one(1), false, Epochs::no_mark), true);
    };
    epochs.lock_all();
    window.look_up(get, false);  // the shared clock is followed from here on
    EXPECT_EQ(is_served(), promised);
    complete();
    EXPECT_TRUE(is_served());
    acquires.quiet = false;
    EXPECT_EQ(is_served(), promised);
    acquires.quiet = true;
    EXPECT_TRUE(is_served());
    epochs.unlock_all();
    epochs.fence(true, false);
    EXPECT_EQ(is_served(), promised);
    epochs.fence(true, true);
    EXPECT_TRUE(is_served());
    epochs.fence(false);
    epochs.start(std::vector<int>{1});
    EXPECT_EQ(is_served(), promised);
    epochs.complete();
    for (const bool exclusive : {true, false}) {
      epochs.lock(1, exclusive);
      EXPECT_EQ(is_served(), promised);
      complete();
      EXPECT_TRUE(is_served());
      epochs.unlock(1);
    }
    constexpr bool remembered = true;
    epochs.lock(1, false, remembered);
    EXPECT_TRUE(is_served());
    epochs.unlock(1);
    epochs.lock_all(true);
    EXPECT_TRUE(is_served());
    epochs.unlock_all();
  }
}

// The truth, and each rank's floor: the versions of all cells below which it must not be served.
constexpr int cells = 96;
constexpr uint64_t cell_bytes = 192;

struct Truth {
  std::atomic<uint32_t> version[cells];
};

std::vector<std::byte> cell_data(int cell, uint32_t version, uint64_t bytes) {
  std::vector<std::byte> data(bytes);
  for (uint64_t at = 0; at < bytes; at += 8) {
    const uint64_t word = (uint64_t{version} << 32) | (static_cast<uint64_t>(cell) << 16) | at;
    std::memcpy(data.data() + at, &word, std::min<uint64_t>(8, bytes - at));
  }
  return data;
}

// Returns the version that all bytes have, or -1 if they are torn or of another cell.
int64_t version_of(const std::vector<std::byte>& data, int cell, uint64_t offset) {
  int64_t version = -1;
  for (uint64_t at = 0; at < data.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data.data() + at, 8);
    const auto its = static_cast<int64_t>(word >> 32);
    if ((word & 0xffff) != offset + at || ((word >> 16) & 0xffff) != static_cast<uint64_t>(cell) ||
        (version >= 0 && its != version))
      return -1;
    version = its;
  }
  return version;
}

// A rank that reads, writes and invalidates at random. What it must see is known: nothing older
// than the truth at its floor, and its own completed writes. Returns what is wrong, or null.
class Hammer {
 public:
  Hammer(SharedCache* cache, Truth* truth, uint32_t seed)
      : cache_(cache), truth_(truth), random_(seed), log_(std::make_unique<WriteLog>()) {
    *log_ = WriteLog{};
    look();
    cache_->advance_floor();
  }

  const char* step() {
    switch (random_() % 64) {
      case 0:
        look();  // what it knows of has been written before
        cache_->advance_floor();
        return nullptr;
      case 1:
        write(static_cast<int>(random_() % cells));
        return nullptr;
      default:
        return read(static_cast<int>(random_() % cells));
    }
  }
  uint64_t hits() const { return hits_; }

 private:
  void look() {
    for (int cell = 0; cell < cells; ++cell) least_[cell] = truth_->version[cell].load();
  }
  static int64_t place(int cell) { return cell * 20000; }

  void write(int cell) {
    log_->record(1, place(cell), place(cell) + static_cast<int64_t>(size_of(cell)));
    cache_->write_begins();
    const uint32_t version = truth_->version[cell].fetch_add(1) + 1;
    // open for some reads
    for (int i = 0; i < 3; ++i) read(static_cast<int>(random_() % cells));
    cache_->writes_completed(log_->now(), log_->now());
    least_[cell] = std::max(least_[cell], version);
  }

  const char* read(int cell) {
    const bool part = random_() % 4 == 0;
    const uint64_t offset = part ? 8 * (random_() % 8) : 0;
    const uint64_t bytes = part ? 8 : size_of(cell);
    const Key key = key_at(place(cell) + static_cast<int64_t>(offset));
    const auto data = get(*cache_, key, bytes, *log_);
    if (!data.empty()) {
      ++hits_;
      const int64_t version = version_of(data, cell, offset);
      if (version < 0) return "torn, or another entry's";
      if (version < static_cast<int64_t>(least_[cell])) return "older than it may be";
      return nullptr;
    }
    if (part) return nullptr;
    const uint64_t stamp = cache_->clock();
    const uint32_t version = truth_->version[cell].load();
    if (random_() % 8 == 0) usleep(1);
    publish(*cache_, key, cell_data(cell, version, bytes), stamp);
    return nullptr;
  }
  // a few are larger than what is copied with the lock held
  static uint64_t size_of(int cell) { return cell % 16 == 0 ? 12000 : cell_bytes; }

  SharedCache* cache_;
  Truth* truth_;
  std::mt19937 random_;
  std::unique_ptr<WriteLog> log_;
  uint32_t least_[cells];
  uint64_t hits_ = 0;
};

SharedCache::Plan crowded_plan() {
  // too little for all: entries come and go, and their storage is reused for others
  SharedCache::Plan plan = small_plan(8, 48 << 10, 256);
  plan.settings.tuner.interval = 200;
  return plan;
}

TEST(SharedCache, RandomRanksInTurnSeeNothingOlderThanTheyMay) {
  Node node(crowded_plan());
  Shared memory(sizeof(Truth));
  auto* truth = reinterpret_cast<Truth*>(memory.base());
  std::vector<std::unique_ptr<SharedCache>> caches;
  std::vector<Hammer> ranks;
  for (uint32_t rank = 0; rank < 5; ++rank) {
    caches.push_back(node.join());
    ranks.emplace_back(caches.back().get(), truth, rank);
  }
  std::mt19937 random(9);
  for (int step = 0; step < 200000; ++step) {
    const char* wrong = ranks[random() % ranks.size()].step();
    ASSERT_EQ(wrong, nullptr) << wrong;
    if (step % 1000 != 0) continue;
    ASSERT_EQ(caches[0]->check(), nullptr) << caches[0]->check();
  }
  uint64_t of_others = 0;
  for (const auto& cache : caches) of_others += cache->hits_of_others();
  EXPECT_GT(of_others, 10000u);
}

// A process that hammers until it is killed or told to stop. Its exit code tells what was wrong.
pid_t start_hammer(const Node& node, Truth* truth, const std::atomic<int>* stop,
                   std::atomic<uint64_t>* hits, uint32_t seed) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  MemoryBudget budget;
  std::string wrong;
  const auto cache = SharedCache::join(node.memory.base(), node.memory.bytes(), &budget, &wrong);
  if (cache == nullptr) _exit(3);
  Hammer hammer(cache.get(), truth, seed);
  while (stop->load(std::memory_order_relaxed) == 0) {
    for (int step = 0; step < 50; ++step) {
      const char* wrong = hammer.step();
      if (wrong != nullptr) fprintf(stderr, "%s\n", wrong), _exit(4);
    }
  }
  hits->fetch_add(hammer.hits());
  _exit(0);
}

TEST(SharedCache, ProcessesThatAreKilledAtRandomTakeNothingWrongWithThem) {
  Node node(crowded_plan());
  struct Control {
    Truth truth;
    std::atomic<int> stop;
    std::atomic<uint64_t> hits;
  };
  Shared memory(sizeof(Control));
  auto* control = reinterpret_cast<Control*>(memory.base());
  std::mt19937 random(4);
  uint32_t seed = 100;
  std::vector<pid_t> children;
  const auto start = [&] {
    return start_hammer(node, &control->truth, &control->stop, &control->hits, ++seed);
  };
  for (int rank = 0; rank < 4; ++rank) children.push_back(start());
  int status = 0;
  // every process that joins is a rank of its own
  const auto left = static_cast<int>(Copies::most_members - children.size() - 1);
  const int kills = std::min(steps_of(300), left);
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    usleep(1000 + static_cast<useconds_t>(random() % 3000));
    pid_t& victim = children[random() % children.size()];
    kill(victim, SIGKILL);
    ASSERT_EQ(waitpid(victim, &status, 0), victim);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "a rank saw what it must not: " << WEXITSTATUS(status);
    victim = start();
    if (HasFailure()) break;
  }
  control->stop.store(1);
  for (const pid_t child : children) {
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_GT(control->hits.load(), 0u);
  const auto survivor = node.join();
  EXPECT_EQ(survivor->check(), nullptr) << survivor->check();
}

TEST(SharedCache, ADeathWithTheLockHeldCostsOneShardItsContents) {
  Node node(small_plan(2));
  const auto a = node.join();
  for (int at = 0; at < 64; ++at) publish(*a, key_at(at * 32768), bytes_of(100, at), a->clock());
  const auto there = [&] {
    int count = 0;
    for (int at = 0; at < 64; ++at)
      count += get(*a, key_at(at * 32768), 100, no_writes()) == bytes_of(100, at) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(there(), 64);
  const pid_t child = fork();
  if (child == 0) {
    a->lock_of_shard(0).lock();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const uint64_t before = a->sizes().resets;  // the next to come starts again
  EXPECT_EQ(before, 1u);
  EXPECT_GT(there(), 0);
  EXPECT_LT(there(), 64);
  for (int at = 0; at < 64; ++at) publish(*a, key_at(at * 32768), bytes_of(100, at), a->clock());
  EXPECT_EQ(there(), 64);
  EXPECT_EQ(a->sizes().resets, 1u);
  EXPECT_EQ(a->check(), nullptr);
}

}  // namespace TEST_FILE
}  // namespace nearcache
