#include "cache/get/worth.h"

#include "engine.h"

namespace nearcache {
namespace TEST_FILE {

using test::all_policies;
using test::Engine;
using test::sized;

Key at(int64_t displacement) { return {displacement, 1, 0}; }

// Returns how many of 160 gets would be stored. The copy of each takes 400 of the 2,600 ns that the
// get takes.
int stored_of_160(Worth& worth, bool seen = false) {
  int stored = 0;
  for (int i = 0; i < 160; ++i) stored += worth.worth_storing(4096, seen, 2600, 400);
  return stored;
}

TEST(Worth, StoresUntilItKnowsBetter) {
  Worth worth;
  EXPECT_EQ(stored_of_160(worth), 160);
}

TEST(Worth, WhatGoesWithoutAHitIsNotStored) {
  Worth worth;
  for (int i = 0; i < 500; ++i) worth.stored(4096, false), worth.gone(4096, false);
  EXPECT_EQ(stored_of_160(worth), 10) << "one in sixteen, to go on learning";
  EXPECT_EQ(stored_of_160(worth, true), 160) << "keys that return are judged apart";
  EXPECT_TRUE(worth.worth_storing(64, false, 2600, 400)) << "and so are other sizes";
}

TEST(Worth, WhatIsDroppedAtOnceIsGone) {
  Worth worth;
  for (int i = 0; i < 5000; ++i) worth.stored(4096, false);
  worth.all_gone();
  EXPECT_EQ(stored_of_160(worth), 10);
}

TEST(Worth, WhatIsHitIsStoredAgain) {
  Worth worth;
  for (int i = 0; i < 500; ++i) worth.stored(4096, false), worth.gone(4096, false);
  for (int i = 0; i < 500; ++i) worth.stored(4096, false), worth.first_hit(4096, false, 10, false);
  EXPECT_EQ(stored_of_160(worth), 160);
}

// A cache that is filling up: one in fifty was hit so far, and nothing was evicted.
TEST(Worth, WhatStillWaitsSaysNothing) {
  Worth worth;
  for (int i = 0; i < 10000; ++i) worth.stored(4096, false);
  for (int i = 0; i < 200; ++i) worth.first_hit(4096, false, 5000, false);
  EXPECT_EQ(stored_of_160(worth), 160);
}

// A wrong no costs a whole get, so even expensive copies pay if every second one is hit.
TEST(Worth, ADearCopyPaysIfEverySecondIsHit) {
  Worth worth;
  for (int i = 0; i < 500; ++i) {
    worth.stored(65536, false), worth.gone(65536, false);
    worth.stored(65536, false), worth.first_hit(65536, false, 10, false);
  }
  EXPECT_TRUE(worth.worth_storing(65536, false, 13000, 9900));
}

TEST(Worth, PatienceFollowsTheWaitsThatWereSeen) {
  Worth worth;
  EXPECT_FALSE(worth.waits_in_vain(4096, false, 1000));
  EXPECT_TRUE(worth.waits_in_vain(4096, false, 2000));
  for (int i = 0; i < 200; ++i)
    worth.stored(4096, false), worth.first_hit(4096, false, 10000, false);
  EXPECT_FALSE(worth.waits_in_vain(4096, false, 30000));
  EXPECT_TRUE(worth.waits_in_vain(4096, false, 50000));
}

TEST(Worth, WhatWasGivenUpAndHitAfterAllCountsOnce) {
  Worth worth;
  for (int i = 0; i < 200; ++i) {
    worth.stored(4096, false);
    worth.gone(4096, false);
    worth.first_hit(4096, false, 9000, true);
  }
  EXPECT_TRUE(worth.worth_storing(4096, false, 1000, 4000))
      << "nearly all are hit: a copy of four gets' time would pay";
}

// Returns how many of `gets` gets of 4 KiB, with keys chosen by `next`, are copied into storage.
template <class Next>
int copies(Engine& engine, int64_t gets, Next&& next) {
  int copied = 0;
  for (int64_t i = 0; i < gets; ++i) {
    const Key key = at(next(i));
    if (engine.lookup(key, 4096).found != GetCache::Found::none) continue;
    if (!engine.cache->worth_storing(hash_key(key), 4096, 400)) {
      engine.cache->remember(hash_key(key));
      continue;
    }
    const auto inserted = engine.insert(key, 4096);
    if (inserted.entry == no_entry) continue;
    ++copied;
    engine.cache->complete(inserted.entry, 4096, engine.cache->writes().now());
  }
  return copied;
}

// A program that never repeats itself.
struct Stream {
  int64_t last = 0;
  int64_t operator()(int64_t) { return last += 4096; }
};

TEST(WorthInTheEngine, AProgramThatNeverRepeatsItselfIsHardlyCopied) {
  for (const PolicyKind policy : all_policies) {
    Engine engine(sized(1000, 256 * 4096, policy));
    Stream stream;
    EXPECT_LT(copies(engine, 2000, stream), 700) << policy_name(policy);
    EXPECT_LT(copies(engine, 2000, stream), 200) << policy_name(policy);
  }
}

TEST(WorthInTheEngine, NorIntoStorageThatNeverFills) {
  Engine engine(sized(20000, uint64_t{20000} * 4096));
  Stream stream;
  EXPECT_LT(copies(engine, 4000, stream), 2500);
  EXPECT_LT(copies(engine, 2000, stream), 200);
}

// Everything is repeatedly dropped before it is requested again.
TEST(WorthInTheEngine, NorWhereEpochsDropEverything) {
  Engine engine(sized(1000, 256 * 4096));
  Stream stream;
  EXPECT_LT(copies(engine, 2000,
                   [&](int64_t i) {
                     if (i % 20 == 0) engine.cache->invalidate();
                     return stream(i);
                   }),
            400);
}

// 10,000 keys in random order: most of what is stored in the first 5,000 gets is hit much later.
TEST(WorthInTheEngine, AFillingCacheGoesOnStoring) {
  Engine engine(sized(20000, uint64_t{20000} * 4096));
  uint64_t random = 1;
  const int copied = copies(engine, 5000, [&random](int64_t) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>(random >> 33) % 10000 * 4096;
  });
  EXPECT_EQ(engine.cache->entries(), static_cast<uint64_t>(copied));
  EXPECT_GT(copied, 3850) << "of some 3,930 keys";
}

}  // namespace TEST_FILE
}  // namespace nearcache
