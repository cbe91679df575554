#include "cache/get/policy/policy_view.h"

#include <random>

#include "engine.h"

namespace nearcache::test {
namespace TEST_FILE {

Key at(int64_t displacement, uint32_t target = 1) { return {displacement, target, 0}; }

// CLaMPI's micro-benchmark (section IV.A): 1,000 distinct gets of 2^0..2^16 bytes, drawn from
// N(500, 250).
struct Micro {
  std::vector<Key> keys;
  std::vector<uint64_t> sizes;
  uint64_t bytes = 0;
  std::mt19937_64 random{1};
  std::normal_distribution<double> normal{500, 250};

  Micro() {
    for (int i = 0; i < 1000; ++i) {
      keys.push_back(at(static_cast<int64_t>(bytes)));
      sizes.push_back(uint64_t{1} << random() % 17);
      bytes += sizes.back();
    }
  }
  size_t draw() {
    double value = -1;
    while (value < 0 || value >= 1000) value = normal(random);
    return static_cast<size_t>(value);
  }
};

struct Outcome {
  double saved, fill;
};

Outcome run_micro(PolicyKind policy, double share, int gets) {
  Micro micro;
  Engine engine(
      sized(1500, static_cast<uint64_t>(share * static_cast<double>(micro.bytes)), policy));
  double total = 0, saved = 0, fill = 0;
  int looks = 0;
  bool full = false;
  for (int i = 0; i < gets; ++i) {
    const size_t which = micro.draw();
    const uint64_t bytes = micro.sizes[which];
    const Key& key = micro.keys[which];
    total += engine.cache->cost_ns(bytes);
    if (engine.lookup(key, bytes).found == GetCache::Found::full) {
      saved += engine.cache->cost_ns(bytes);
    } else {
      const auto inserted = engine.insert(key, bytes);
      full = full || inserted.how != GetCache::Insert::direct;
      if (inserted.entry != no_entry) engine.cache->complete(inserted.entry, bytes, 0);
    }
    if (!full) continue;
    fill += static_cast<double>(engine.cache->stored_bytes()) /
            static_cast<double>(engine.cache->storage_bytes());
    ++looks;
  }
  EXPECT_EQ(engine.cache->check(), nullptr);
  return {saved / total, fill / looks};
}

TEST(Policy, RateKeepsTheStorageOfTheMicroBenchmarkFullAndUseful) {
  const Outcome rate = run_micro(PolicyKind::rate, 0.25, 100000);
  EXPECT_GE(rate.saved, 0.60);
  EXPECT_GE(rate.fill, 0.95);
}

TEST(Policy, RateSavesMoreThanTheOthersOnTheMicroBenchmark) {
  for (const double share : {0.1, 0.25}) {
    const double rate = run_micro(PolicyKind::rate, share, 30000).saved;
    EXPECT_GT(rate, run_micro(PolicyKind::lru, share, 30000).saved);
    EXPECT_GT(rate, run_micro(PolicyKind::clampi, share, 30000).saved);
  }
}

// CLaMPI, figure 10: the positional score keeps the storage fuller than recency alone.
TEST(Policy, ClampiStaysFullerThanItsTemporalHalf) {
  EXPECT_GT(run_micro(PolicyKind::clampi, 0.25, 30000).fill,
            run_micro(PolicyKind::clampi_temporal, 0.25, 30000).fill);
}

TEST(Policy, AScanDoesNotWashOutWhatIsUsedOften) {
  Engine engine(sized(2000, 100 * 512));
  for (int round = 0; round < 20; ++round) {
    for (int64_t i = 0; i < 90; ++i) engine.get(at(i * 512), 512);
  }
  for (int64_t i = 0; i < 3000; ++i) {
    engine.get(at(i * 512, 2), 512);
    if (i % 4 == 0) engine.get(at(i / 4 % 90 * 512), 512);
  }
  int hits = 0;
  for (int64_t i = 0; i < 90; ++i) hits += engine.get(at(i * 512), 512);
  EXPECT_GE(hits, 85);
}

TEST(Policy, RateFollowsAWorkingSetThatMoves) {
  Engine engine(sized(2000, 100 * 512));
  for (int round = 0; round < 50; ++round) {
    for (int64_t i = 0; i < 90; ++i) engine.get(at(i * 512), 512);
  }
  int hits = 0;
  for (int round = 0; round < 400; ++round) {
    hits = 0;
    for (int64_t i = 0; i < 90; ++i) hits += engine.get(at(i * 512, 2), 512);
  }
  EXPECT_GE(hits, 80);
}

// All keys are requested equally often; large entries filled the storage before small ones came.
// One small entry is worth less than the large one that it would replace, but eight of them fit in
// that space.
TEST(Policy, RateLetsSmallEntriesTakeThePlaceOfLargeOnes) {
  Engine engine(sized(1000, 4 * 8192));
  int small_hits = 0;
  for (int round = 0; round < 400; ++round) {
    for (int64_t i = 0; i < 8; ++i) engine.get(at(i * 8192), 8192);
    if (round < 10) continue;
    small_hits = 0;
    for (int64_t i = 0; i < 40; ++i) small_hits += engine.get(at(i * 1024, 2), 1024);
  }
  EXPECT_GE(small_hits, 24) << "of the 32 that storage has room for";
}

TEST(Policy, RateAdmitsWhatIsDueAtOnceAndNothingElseInPlaceOfAPopularSet) {
  Engine engine(sized(1000, 16 * 512));
  for (int round = 0; round < 100; ++round) {
    for (int64_t i = 0; i < 16; ++i) engine.get(at(i * 512), 512);
  }
  for (const bool due : {false, true}) {
    const Key key = at(1 << 20);
    const auto inserted = engine.cache->insert(hash_key(key), key, 512, 1, due);
    EXPECT_EQ(inserted.entry != no_entry, due);
    EXPECT_EQ(inserted.how, due ? GetCache::Insert::capacity : GetCache::Insert::not_admitted);
  }
  EXPECT_EQ(engine.cache->check(), nullptr);
}

// Keys are used for a while and then never again: past popularity must not keep them.
TEST(Policy, RateLetsGoOfWhatIsDoneWith) {
  Engine engine(sized(4000, 100 * 512));
  std::mt19937 random(1);
  int hits = 0;
  const int gets = 40000;
  for (int i = 0; i < gets; ++i)
    hits += engine.get(at((i / 40 + static_cast<int>(random() % 60)) * 512), 512);
  EXPECT_GT(hits, gets * 9 / 10);
}

// Otherwise the other policies, which report no hits themselves, would be bypassed after a while.
TEST(Policy, HitsUnderEveryPolicyShowThatStoringPays) {
  for (const PolicyKind policy : all_policies) {
    Engine engine(sized(2000, 1 << 20, policy));
    for (int64_t i = 0; i < 2000; ++i) {
      engine.get(at(i * 1024), 512);
      engine.get(at(i * 1024), 512);
    }
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(engine.cache->worth_storing(hash_key(at(-1 - i)), 512, 500))
          << policy_name(policy);
  }
}

TEST(Policy, ThePastOfAnEntrySurvivesItsEviction) {
  Engine engine(sized(200, 512));
  for (int i = 0; i < 30; ++i) engine.get(at(0), 512);
  const PolicyView view(*engine.cache);
  view.evict(engine.lookup(at(0), 512).entry);
  EXPECT_GE(view.sketch().count(hash_key(at(0))), 25u);
  engine.get(at(1000), 512);  // takes the whole storage
  engine.get(at(0), 512);
  EXPECT_TRUE(engine.get(at(0), 512)) << "it is worth more than what came for it";
}

TEST(Policy, LruEvictsWhatWasUsedLeastRecently) {
  Engine engine(sized(64, 4 * 64, PolicyKind::lru));
  for (int64_t i = 0; i < 4; ++i) engine.get(at(i * 100), 64);
  EXPECT_TRUE(engine.get(at(0), 64));
  engine.get(at(900), 64);
  EXPECT_TRUE(engine.get(at(0), 64));
  EXPECT_EQ(engine.lookup(at(100), 64).found, GetCache::Found::none);
}

TEST(Policy, SieveSparesWhatWasHitSinceTheHandPassed) {
  Engine engine(sized(64, 4 * 64, PolicyKind::sieve));
  for (int64_t i = 0; i < 4; ++i) engine.get(at(i * 100), 64);
  EXPECT_TRUE(engine.get(at(0), 64));
  EXPECT_TRUE(engine.get(at(200), 64));
  engine.get(at(900), 64);  // the hand clears 0, takes 100 and stays before 200
  EXPECT_EQ(engine.lookup(at(100), 64).found, GetCache::Found::none);
  engine.get(at(901), 64);  // clears 200, takes 300
  EXPECT_EQ(engine.lookup(at(300), 64).found, GetCache::Found::none);
  for (const int64_t kept : {0, 200, 900, 901}) EXPECT_TRUE(engine.get(at(kept), 64)) << kept;
}

TEST(Policy, SieveEvictsUntilTheNewcomerFits) {
  Engine engine(sized(64, 4 * 64, PolicyKind::sieve));
  for (int64_t i = 0; i < 4; ++i) engine.get(at(i * 100), 64);
  engine.get(at(900), 128);
  EXPECT_TRUE(engine.get(at(900), 128));
  EXPECT_EQ(engine.cache->evictions(), 2u);
}

// New entries pass through the window; only those requested more often than the main part's victim
// stay.
TEST(Policy, TinyLfuKeepsWhatIsFrequentFromAScan) {
  Engine engine(sized(4000, 200 * 64, PolicyKind::tinylfu));
  for (int round = 0; round < 5; ++round) {
    for (int64_t i = 0; i < 150; ++i) engine.get(at(i * 100), 64);
  }
  for (int64_t i = 0; i < 2000; ++i) engine.get(at(i * 100, 2), 64);
  int hits = 0;
  for (int64_t i = 0; i < 150; ++i) hits += engine.get(at(i * 100), 64);
  EXPECT_GE(hits, 145);
}

// An entry larger than the window is compared at once.
TEST(Policy, TinyLfuKeepsWhatIsFrequentFromAScanOfLargeOnes) {
  Engine engine(sized(400, 20 * 512, PolicyKind::tinylfu));
  for (int round = 0; round < 5; ++round) {
    for (int64_t i = 0; i < 20; ++i) engine.get(at(i * 1000), 512);  // all that fit
  }
  for (int64_t i = 0; i < 200; ++i) engine.get(at(i * 1000, 2), 512);
  for (int64_t i = 0; i < 20; ++i)
    EXPECT_EQ(engine.lookup(at(i * 1000), 512).found, GetCache::Found::full) << i;
}

TEST(Policy, TinyLfuAdmitsWhatBecameFrequent) {
  Engine engine(sized(4000, 100 * 64, PolicyKind::tinylfu));
  for (int64_t i = 0; i < 100; ++i) engine.get(at(i * 100), 64);
  int hits = 0;
  for (int round = 0; round < 20; ++round) {
    hits = 0;
    for (int64_t i = 0; i < 50; ++i) hits += engine.get(at(i * 100, 2), 64);
  }
  EXPECT_GE(hits, 45);
}

// The entry requested last is due last: replacing equals by each other keeps nothing.
TEST(Policy, OfACycleThatIsLargerThanTheCacheAPartStays) {
  constexpr int64_t keys = 2000, rounds = 20, kept = keys / 4;
  Engine engine(sized(2 * kept, kept * 64, PolicyKind::rate));
  int64_t hits = 0;
  for (int64_t i = 0; i < rounds * keys; ++i) hits += engine.get(at(i % keys * 100), 64);
  // 72 of 100 if every new entry of equal worth is admitted
  EXPECT_GT(hits, (rounds - 1) * kept * 85 / 100);
  EXPECT_GT(PolicyView(*engine.cache).rate().inertia.factor(), 2);
}

TEST(Inertia, RisesWithVictimsThatComeBackAndFallsWithNewcomersThatDo) {
  Inertia inertia;
  EXPECT_EQ(inertia.factor(), 1);
  const auto exchange = [&inertia](bool victim_returns) {
    for (uint64_t i = 1; i <= 4000; ++i) {
      const uint64_t victim = hash_key(at(static_cast<int64_t>(i))),
                     newcomer = hash_key(at(-static_cast<int64_t>(i)));
      inertia.exchanged(victim, newcomer);
      inertia.asked(hash_key(at(static_cast<int64_t>(i), 2)));  // belongs to no pair
      inertia.asked(victim_returns ? victim : newcomer);
      inertia.asked(victim_returns ? newcomer : victim);  // the pair is settled
    }
  };
  exchange(false);
  EXPECT_EQ(inertia.factor(), 1);
  exchange(true);
  EXPECT_EQ(inertia.factor(), 5);
  exchange(false);
  EXPECT_EQ(inertia.factor(), 1);
}

TEST(Policy, StaleEntriesGoFirst) {
  for (const PolicyKind policy : all_policies) {
    for (const bool under_way : {false, true}) {
      Engine engine(sized(64, 5 * 64, policy));
      const auto kept = engine.insert(at(5000), 64);
      if (!under_way) engine.arrive(kept.entry, 64);
      for (int round = 0; round < 5; ++round) {
        for (int64_t i = 0; i < 4; ++i) engine.get(at(i * 100), 64);
      }
      engine.cache->invalidate();
      for (int64_t i = 10; i < 14; ++i) engine.get(at(i * 100), 64);
      EXPECT_EQ(engine.cache->evictions(), 0u) << policy_name(policy);
      for (int64_t i = 10; i < 14; ++i)
        EXPECT_TRUE(engine.get(at(i * 100), 64)) << policy_name(policy);
    }
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
