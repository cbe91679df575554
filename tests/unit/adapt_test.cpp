// Resizing while the program runs: contents stay, the memory budget holds, sizes settle.
#include <random>

#include "engine.h"
#include "sanitized.h"

namespace nearcache::test {
namespace TEST_FILE {

constexpr uint64_t mib = 1 << 20;

Key at(int64_t displacement, uint32_t target = 1) { return {displacement, target, 0}; }

struct Adapting : Engine {
  Adapting(GetCacheSettings settings, uint64_t limit) : Engine(settings, {1 << 18, 256 * mib}) {
    budget.set_limit(limit);
    EXPECT_TRUE(budget.take(cache->memory()));
  }
  bool step(const Key& key, uint64_t bytes) {
    const bool hit = get(key, bytes);
    if (cache->adapt_is_due()) changes += cache->adapt(&budget);
    EXPECT_LE(budget.used(), budget.limit());
    EXPECT_EQ(budget.used(), cache->memory());
    return hit;
  }
  MemoryBudget budget;
  int changes = 0;
};

TEST(Adapt, StorageAndIndexGrowToAWorkingSetThatRepeats) {
  Adapting engine(sized(256, 64 * 1024), 64 * mib);
  int hits = 0;
  for (int round = 0; round < 60; ++round) {
    hits = 0;
    for (int64_t i = 0; i < 4000; ++i) hits += engine.step(at(i * 512), 500);
  }
  EXPECT_EQ(hits, 4000);
  EXPECT_LE(engine.cache->storage_bytes(), 8 * mib);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(Adapt, SizesSettle) {
  Adapting engine(sized(4096, mib), 64 * mib);
  std::mt19937 random(1);
  int after_settling = 0;
  for (int i = 0; i < steps_of(600000); ++i) {
    const auto which = static_cast<int64_t>(random() % 3000);
    engine.step(at(which * 1024), 300 + static_cast<uint64_t>(which % 600));
    if (i == steps_of(200000)) after_settling = engine.changes;
  }
  EXPECT_LE(engine.changes - after_settling, 1);
}

TEST(Adapt, GetsThatNeverRepeatDoNotGrowTheStorage) {
  Adapting engine(sized(4096, mib), 64 * mib);
  for (int64_t i = 0; i < steps_of(200000); ++i) engine.step(at(i * 2048), 2048);
  EXPECT_LE(engine.cache->storage_bytes(), 2 * mib);
}

// CLaMPI's micro-benchmark: 1,000 keys of 2^0..2^16 bytes, requested with a normal distribution.
struct Micro {
  std::vector<uint64_t> sizes;
  std::vector<int64_t> places;
  explicit Micro(std::mt19937& random) {
    int64_t at = 0;
    for (int i = 0; i < 1000; ++i) {
      sizes.push_back(uint64_t{1} << random() % 17);
      places.push_back(at);
      at += static_cast<int64_t>(sizes.back());
    }
  }
  size_t draw(std::mt19937& random) {
    std::normal_distribution<double> normal(500, 250);
    for (;;) {
      const double value = normal(random);
      if (value >= 0 && value < 1000) return static_cast<size_t>(value);
    }
  }
};

TEST(Adapt, AShortRunLosesLittleFromAnyStart) {
  for (const auto& [index, storage] : {std::pair<uint64_t, uint64_t>{200, 64 * 1024},
                                       {200, 16 * mib},
                                       {1000, mib},
                                       {8000, 64 * 1024},
                                       {8000, 256 * mib},
                                       {100000, 7 * mib}}) {
    if (sanitized && (storage > 4 * mib || index > 200)) continue;
    std::mt19937 random(3);
    Micro micro(random);
    Adapting engine(sized(index, storage), 512 * mib);
    std::vector<bool> asked(1000);
    int first = 0, missed = 0;
    for (int i = 0; i < 20000; ++i) {
      const size_t which = micro.draw(random);
      if (!asked[which]) ++first;
      asked[which] = true;
      if (!engine.step(at(micro.places[which]), micro.sizes[which])) ++missed;
    }
    EXPECT_LE(missed - first, 130) << "index " << index << ", storage " << storage;
    EXPECT_LE(engine.changes, 20);
    EXPECT_EQ(engine.cache->check(), nullptr);
  }
}

TEST(Adapt, AScanGrowsALittleStorageToTheDefaultOnly) {
  Adapting engine(sized(4096, 64 * 1024), 64 * mib);
  for (int64_t i = 0; i < steps_of(200000); ++i) engine.step(at(i * 2048), 2048);
  EXPECT_EQ(engine.cache->storage_bytes(), mib);
}

TEST(Adapt, AScanRepeatedAfterEachInvalidationDoesNotGrowTheStorage) {
  Adapting engine(sized(4096, mib), 64 * mib);
  for (int phase = 0; phase < steps_of(50); ++phase) {
    for (int64_t i = 0; i < 4000; ++i) engine.step(at(i * 2048), 2048);
    engine.cache->invalidate();
  }
  EXPECT_LE(engine.cache->storage_bytes(), mib);
}

TEST(Adapt, TakesWhatTheBudgetHasLeft) {
  const uint64_t limit = GetCache::memory_for(4096, mib) + 700 * 1024;
  Adapting engine(sized(4096, mib), limit);
  for (int round = 0; round < 5; ++round) {
    for (int64_t i = 0; i < 3000; ++i) engine.step(at(i * 1024), 1000);
  }
  EXPECT_GT(engine.cache->storage_bytes(), mib + 500 * 1024);
}

TEST(Adapt, FixedSizesAreNeverLookedAtEarly) {
  GetCacheSettings settings = sized(64, 16 * 1024);
  settings.tuner.adaptive = false;
  Adapting engine(settings, 64 * mib);
  for (int64_t i = 0; i < 1000; ++i) {
    engine.get(at(i % 100 * 1024), 1000);
    ASSERT_FALSE(engine.cache->adapt_is_due());
  }
}

TEST(Adapt, NeverTakesMoreThanTheBudget) {
  const uint64_t limit = GetCache::memory_for(4096, mib) + 3 * mib;
  Adapting engine(sized(4096, mib), limit);
  for (int round = 0; round < 5; ++round) {
    for (int64_t i = 0; i < 20000; ++i) engine.step(at(i * 1024), 1000);
  }
  EXPECT_LE(engine.cache->memory(), limit);
  EXPECT_GT(engine.cache->storage_bytes(), mib);
}

TEST(Adapt, GrowingKeepsTheContents) {
  for (const PolicyKind policy : all_policies) {
    GetCacheSettings settings = sized(128, 16 * 1024, policy);
    settings.tuner.interval = 64;
    Adapting engine(settings, 64 * mib);
    for (int64_t i = 0; i < 100; ++i) engine.step(at(i * 100), 100);
    const uint64_t index = engine.cache->index_capacity(), storage = engine.cache->storage_bytes();
    for (int round = 0; round < 4; ++round) {
      for (int64_t i = 0; i < 400; ++i) engine.step(at(i * 100), 100);
    }
    EXPECT_GT(engine.cache->index_capacity(), index);
    EXPECT_GT(engine.cache->storage_bytes(), storage);
    int hits = 0;
    for (int64_t i = 0; i < 400; ++i) hits += engine.get(at(i * 100), 100);
    EXPECT_EQ(hits, 400) << policy_name(policy);
    EXPECT_EQ(engine.cache->check(), nullptr);
  }
}

TEST(Adapt, ShrinkingKeepsWhatFits) {
  GetCacheSettings settings = sized(65536, 64 * mib);
  Adapting engine(settings, 128 * mib);
  const uint64_t before = engine.cache->memory();
  int hits = 0;
  for (int round = 0; round < 100; ++round) {
    hits = 0;
    for (int64_t i = 0; i < 1000; ++i) hits += engine.step(at(i * 512), 512);
  }
  EXPECT_EQ(hits, 1000);
  EXPECT_LT(engine.cache->storage_bytes(), 4 * mib);
  EXPECT_LT(engine.cache->index_capacity(), 32768u);
  EXPECT_LT(engine.cache->memory(), before / 4);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(Adapt, AGetUnderWayAtTheEndOfStorageIsNotCutOff) {
  GetCacheSettings settings = sized(64, mib);
  settings.tuner.interval = 1;
  Adapting engine(settings, 64 * mib);
  engine.get(at(0), mib - 1024);
  const auto under_way = engine.insert(at(5000000), 1000);
  ASSERT_NE(under_way.entry, no_entry);
  engine.cache->discard(engine.cache->find(hash_key(at(0)), at(0)));
  engine.get(at(100), 16);
  for (int i = 0; i < 100; ++i) engine.step(at(100), 16);
  ASSERT_TRUE(engine.cache->keeps(under_way.entry));
  engine.arrive(under_way.entry, 1000);
  EXPECT_TRUE(engine.get(at(5000000), 1000));
  EXPECT_EQ(engine.cache->check(), nullptr);
}

// Everything that random gets tell of a cache.
std::vector<uint64_t> told(Adapting* engine, uint32_t seed) {
  GetCache& cache = *engine->cache;
  std::mt19937 random(seed);
  std::vector<uint64_t> told;
  for (int i = 0; i < 6000; ++i) {
    const auto where = static_cast<int64_t>(random() % 3000 * (i < 3000 ? 64 : 16));
    const Key key = at(where, random() % 3);
    if (random() % 50 == 0) cache.record_write(key.target, where, where + 40);
    if (random() % 900 == 0) cache.invalidate();
    const uint64_t bytes = 1 + random() % 500;
    told.push_back(engine->step(key, bytes) ? 1 : 0);
    const GetCache::Overlap overlap = cache.overlap(key, bytes);
    told.push_back(static_cast<uint64_t>(overlap.found));
    if (overlap.found == GetCache::Found::full) cache.note_part(key, overlap.entry);
  }
  for (const uint64_t each : {cache.entries(), cache.index_capacity(), cache.storage_bytes(),
                              cache.evictions(), cache.write_drops(), cache.metadata_bytes()})
    told.push_back(each);
  return told;
}

TEST(Adapt, AWipedCacheIsAsGoodAsNew) {
  for (const PolicyKind policy : all_policies) {
    GetCacheSettings settings = sized(64, 16 * 1024, policy);
    settings.tuner.interval = 300;
    Adapting engine(settings, 4 * mib), fresh(settings, 4 * mib);
    const std::vector<uint64_t> before = told(&engine, 1);
    EXPECT_GT(engine.changes, 0);
    engine.budget.give_back(engine.cache->memory());
    engine.cache->wipe();
    engine.cache = GetCache::create(engine.region.base(), {1 << 18, 256 * mib}, settings);
    engine.cache->set_costs(1900, 0.17);
    EXPECT_TRUE(engine.budget.take(engine.cache->memory()));
    EXPECT_EQ(engine.cache->check(), nullptr);
    EXPECT_EQ(told(&engine, 2), told(&fresh, 2));
    EXPECT_EQ(engine.cache->check(), nullptr);
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
