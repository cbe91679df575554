#include "cache/get/policy/policy_view.h"

#include "engine.h"

namespace nearcache::test {
namespace TEST_FILE {

using Found = GetCache::Found;
using Insert = GetCache::Insert;

Key at(int64_t displacement, uint32_t target = 1) { return {displacement, target, 0}; }

TEST(GetCache, AGetIsPendingUntilItArrivesAndThenFull) {
  Engine engine(sized(64, 4096));
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  const auto inserted = engine.insert(at(0), 100, 7);
  ASSERT_EQ(inserted.how, Insert::direct);
  auto found = engine.lookup(at(0), 100);
  EXPECT_EQ(found.found, Found::pending);
  EXPECT_EQ(found.token, 7u);
  EXPECT_EQ(engine.lookup(at(0), 60).found, Found::pending);
  found = engine.lookup(at(0), 101);
  EXPECT_EQ(found.found, Found::pending_partial);
  EXPECT_EQ(found.have, 100u);
  engine.arrive(inserted.entry, 100);
  found = engine.lookup(at(0), 100);
  EXPECT_EQ(found.found, Found::full);
  EXPECT_TRUE(engine.holds_content(found.entry, 100));
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, ALongerGetFindsItsHead) {
  Engine engine(sized(64, 4096));
  engine.get(at(0), 100);
  const auto found = engine.lookup(at(0), 150);
  EXPECT_EQ(found.found, Found::partial);
  EXPECT_EQ(found.have, 100u);
  EXPECT_EQ(engine.lookup(at(0), 99).found, Found::full);
}

TEST(GetCache, TargetDisplacementAndLayoutTellGetsApart) {
  Engine engine(sized(64, 4096));
  engine.get({0, 1, 0}, 16);
  for (const Key& key :
       {Key{0, 2, 0}, Key{1, 1, 0}, Key{0, 1, 5}, Key{int64_t{1} << 40, 1, 0}, Key{-1, 1, 0}})
    EXPECT_EQ(engine.lookup(key, 16).found, Found::none);
}

TEST(GetCache, GrowsInPlaceWhenThereIsRoomBehind) {
  Engine engine(sized(64, 4096));
  engine.get(at(0), 100);
  const auto found = engine.lookup(at(0), 400);
  const EntryId grown = engine.cache->grow(hash_key(at(0)), found.entry, 400, 9);
  EXPECT_EQ(grown, found.entry);
  const auto meanwhile = engine.lookup(at(0), 400);
  EXPECT_EQ(meanwhile.found, Found::partial);
  EXPECT_EQ(meanwhile.token, 9u);
  EXPECT_EQ(engine.lookup(at(0), 50).found, Found::full)
      << "the head is served while the tail is under way";
  engine.arrive(grown, 400);
  EXPECT_EQ(engine.lookup(at(0), 400).found, Found::full);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, MovesToGrowWhenANeighbourIsInTheWay) {
  for (const PolicyKind policy : all_policies) {
    Engine engine(sized(64, 4096, policy));
    engine.get(at(0), 100);
    engine.get(at(1000), 100);
    const auto found = engine.lookup(at(0), 400);
    const EntryId grown = engine.cache->grow(hash_key(at(0)), found.entry, 400, 9);
    ASSERT_NE(grown, no_entry);
    EXPECT_NE(grown, found.entry);
    EXPECT_TRUE(engine.holds_content(grown, 100));
    EXPECT_EQ(engine.cache->check(), nullptr);
    engine.arrive(grown, 400);
    EXPECT_TRUE(engine.get(at(0), 400));
    EXPECT_TRUE(engine.get(at(1000), 100));
    EXPECT_EQ(engine.cache->entries(), 2u);
  }
}

TEST(GetCache, StaysAsItIsWhenThereIsNoRoomToGrow) {
  Engine engine(sized(64, 256));
  engine.get(at(0), 100);
  engine.get(at(1000), 100);
  const auto found = engine.lookup(at(0), 250);
  EXPECT_EQ(engine.cache->grow(hash_key(at(0)), found.entry, 250, 9), no_entry);
  EXPECT_TRUE(engine.get(at(0), 100));
}

TEST(GetCache, AFailedTailShrinksBackToTheHead) {
  Engine engine(sized(64, 4096));
  engine.get(at(0), 100);
  const auto found = engine.lookup(at(0), 400);
  const EntryId grown = engine.cache->grow(hash_key(at(0)), found.entry, 400, 9);
  engine.cache->abandon(grown, engine.cache->writes().now());
  EXPECT_EQ(engine.lookup(at(0), 400).found, Found::partial);
  EXPECT_TRUE(engine.get(at(0), 100));
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, AWriteOverTheHeadIsSeenAfterItsTailFailed) {
  Engine engine(sized(64, 4096));
  engine.get(at(0), 100);
  const auto found = engine.lookup(at(0), 400);
  const uint32_t issued = engine.cache->writes().now();
  const EntryId grown = engine.cache->grow(hash_key(at(0)), found.entry, 400, 9);
  engine.cache->record_write(at(0).target, 50, 60);
  engine.cache->abandon(grown, issued);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, AFailedGetLeavesNothing) {
  Engine engine(sized(64, 4096));
  const auto inserted = engine.insert(at(0), 100);
  engine.cache->abandon(inserted.entry, 0);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  EXPECT_EQ(engine.cache->stored_bytes(), 0u);
  EXPECT_EQ(engine.cache->entries(), 0u);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, WithoutStorageRepeatsFindTheGetUnderWayAndNothingIsKept) {
  Engine engine(sized(64, 0));
  const EntryId id = engine.cache->insert_bare(hash_key(at(0)), at(0), 100, 3);
  ASSERT_NE(id, no_entry);
  const auto found = engine.lookup(at(0), 100);
  EXPECT_EQ(found.found, Found::pending);
  EXPECT_EQ(found.token, 3u);
  EXPECT_FALSE(engine.cache->keeps(id));
  engine.cache->abandon(id, 0);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  EXPECT_EQ(engine.insert(at(0), 100).how, Insert::not_admitted);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, WhatIsUnderWayAndNotListedIsFoundByTheNextLookUp) {
  Engine engine(sized(64, 0));
  EntryId ids[3];
  for (uint32_t token = 0; token < 3; ++token) {
    ids[token] = engine.cache->insert_bare_unlisted(at(token * 1000), 100, token);
    ASSERT_NE(ids[token], no_entry);
    EXPECT_EQ(engine.cache->check(), nullptr);
  }
  for (uint32_t token = 0; token < 3; ++token) {
    const auto found = engine.lookup(at((2 - token) * 1000), 100);
    EXPECT_EQ(found.found, Found::pending);
    EXPECT_EQ(found.token, 2 - token);
  }
  EXPECT_EQ(engine.cache->overlap(at(1020), 50).found, Found::pending);
  for (const EntryId id : ids) engine.cache->abandon(id, 0);
  const EntryId alone = engine.cache->insert_bare_unlisted(at(0), 100, 5);
  engine.cache->abandon(alone, 0);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  const EntryId superseded = engine.cache->insert_bare_unlisted(at(0), 100, 6);
  engine.cache->supersede(superseded);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  engine.cache->abandon(superseded, 0);
  EXPECT_TRUE(engine.cache->empty());
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, InvalidateDropsWhatIsCachedAndWhatIsUnderWay) {
  Engine engine(sized(64, 4096));
  engine.get(at(0), 100);
  const auto under_way = engine.insert(at(1000), 100);
  const EntryId bare = engine.cache->insert_bare(hash_key(at(2000)), at(2000), 100, 4);
  engine.cache->invalidate();
  for (const int64_t where : {0, 1000, 2000})
    EXPECT_EQ(engine.lookup(at(where), 100).found, Found::none);
  EXPECT_FALSE(engine.cache->keeps(under_way.entry));
  engine.get(at(0), 100);  // purges with gets in flight
  EXPECT_EQ(engine.cache->check(), nullptr);
  engine.cache->abandon(under_way.entry, 0);
  engine.cache->abandon(bare, 0);
  EXPECT_EQ(engine.lookup(at(1000), 100).found, Found::none);
  EXPECT_TRUE(engine.get(at(0), 100));
  EXPECT_EQ(engine.cache->entries(), 1u);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, AKeyCanBeFetchedAnewWhileItsOldGetIsStillUnderWay) {
  Engine engine(sized(64, 4096));
  const auto old = engine.insert(at(0), 100, 1);
  engine.cache->supersede(old.entry);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  const auto young = engine.insert(at(0), 100, 2);
  ASSERT_NE(young.entry, no_entry);
  EXPECT_FALSE(engine.cache->keeps(old.entry));
  EXPECT_EQ(engine.lookup(at(0), 100).token, 2u);
  EXPECT_EQ(engine.cache->check(), nullptr);
  engine.cache->abandon(old.entry, 0);
  engine.arrive(young.entry, 100);
  EXPECT_TRUE(engine.get(at(0), 100));
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(GetCache, OwnWritesDropWhatTheyOverlapAndNothingElse) {
  Engine engine(sized(64, 8192));
  engine.get(at(0), 100);
  engine.get(at(1000), 100);
  engine.get(at(0, 2), 100);
  engine.cache->record_write(1, 50, 60);
  EXPECT_EQ(engine.lookup(at(0), 40).found, Found::none)
      << "also for a shorter get: the entry is dropped whole";
  EXPECT_TRUE(engine.get(at(1000), 100));
  EXPECT_TRUE(engine.get(at(0, 2), 100));
  EXPECT_EQ(engine.cache->write_drops(), 1u);
}

TEST(GetCache, AShorterStridedHitDoesNotVouchForTheRest) {
  Engine engine(sized(64, 8192));
  const Key key{0, 1, 9};
  const uint64_t hash = hash_key(key);
  engine.arrive(engine.insert(key, 100).entry, 100);
  engine.cache->record_write(1, 190, 200);  // every second byte: the entry spans [0, 200)
  EXPECT_EQ(engine.cache->lookup(hash, key, 50, 0, 100).found, Found::full);
  EXPECT_EQ(engine.cache->lookup(hash, key, 100, 0, 200).found, Found::none);
}

TEST(GetCache, AWriteWhileAGetIsUnderWayDropsIt) {
  Engine engine(sized(64, 8192));
  const auto inserted = engine.insert(at(0), 100);
  const uint32_t issued = engine.cache->writes().now();
  engine.cache->record_write(1, 90, 95);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  EXPECT_FALSE(engine.cache->keeps(inserted.entry));
  engine.cache->abandon(inserted.entry, issued);

  const auto second = engine.insert(at(1000), 100);
  const uint32_t then = engine.cache->writes().now();
  engine.cache->record_write(1, 1090, 1095);
  engine.cache->complete(second.entry, 100, then);  // not requested meanwhile
  EXPECT_EQ(engine.lookup(at(1000), 100).found, Found::none);
}

TEST(GetCache, InsertSaysWhatItTook) {
  Engine small(sized(64, 256, PolicyKind::lru));
  EXPECT_EQ(small.insert(at(0), 300).how, Insert::not_admitted) << "larger than the storage";
  small.get(at(0), 128);
  small.get(at(1000), 128);
  const auto capacity = small.insert(at(2000), 128);
  EXPECT_EQ(capacity.how, Insert::capacity);
  small.arrive(capacity.entry, 128);
  EXPECT_EQ(small.cache->evictions(), 1u);

  Engine narrow(sized(2, 4096, PolicyKind::lru));
  narrow.get(at(0), 16);
  narrow.get(at(1000), 16);
  EXPECT_EQ(narrow.insert(at(2000), 16).how, Insert::conflicting);
  EXPECT_EQ(narrow.cache->check(), nullptr);

  Engine busy(sized(64, 256));
  busy.insert(at(0), 128);
  busy.insert(at(1000), 128);
  EXPECT_EQ(busy.insert(at(2000), 128).how, Insert::not_admitted)
      << "gets under way are not evicted";
  EXPECT_EQ(busy.cache->check(), nullptr);
}

TEST(GetCache, OneEvictionThatGivesTooLittleRoomFails) {
  Engine engine(sized(64, 256, PolicyKind::clampi));
  for (int64_t i = 0; i < 16; ++i) engine.get(at(i * 100), 16);
  EXPECT_EQ(engine.insert(at(9000), 128).how, Insert::no_room);
  EXPECT_EQ(engine.cache->entries(), 15u);
}

// A published prototype's weak hash left 3 of 400 equal-size gets at stride 500 resident.
TEST(GetCache, EqualSizesAtAnyStrideAreAllResidentWhenTheyFit) {
  for (const int64_t stride : {500, 501, 512}) {
    for (const PolicyKind policy : all_policies) {
      Engine engine(sized(440, 400 * 496, policy));
      for (int64_t i = 0; i < 400; ++i) engine.get(at(i * stride), 490);
      for (int64_t i = 0; i < 400; ++i)
        EXPECT_TRUE(engine.get(at(i * stride), 490)) << stride << ' ' << i;
    }
  }
}

TEST(GetCache, AnEntryCostsAtMost64BytesBesideItsDataAtNineTenthsOfTheIndex) {
  for (const uint64_t index : {10000u, 100000u}) {
    Engine engine(sized(index, index * 64));
    MemoryBudget budget;
    for (uint64_t i = 0; i < index * 9 / 10; ++i) {
      engine.get(at(static_cast<int64_t>(i) * 64), 64);
      engine.cache->overlap(at(static_cast<int64_t>(i) * 64 + 64), 64);
      if (engine.cache->ranges().change_is_due()) engine.cache->adapt(&budget);
    }
    ASSERT_EQ(engine.cache->entries(), index * 9 / 10);
    EXPECT_LE(engine.cache->metadata_bytes(), 64 * engine.cache->entries());
  }
}

TEST(GetCache, WorksAtTinyAndOddIndexCapacities) {
  for (const uint64_t index : {1u, 2u, 3u, 7u}) {
    for (const PolicyKind policy : all_policies) {
      Engine engine(sized(index, 4096, policy));
      for (int64_t i = 0; i < 200; ++i) {
        engine.get(at(i % 11 * 100), static_cast<uint64_t>(20 + i % 11));
        ASSERT_EQ(engine.cache->check(), nullptr);
        ASSERT_LE(engine.cache->entries(), index);
      }
      EXPECT_GE(engine.cache->entries(), 1u);
    }
  }
}

TEST(GetCache, StorageBeyondFourGiBServesWhatIsAtItsEnd) {
  constexpr uint64_t gib = uint64_t{1} << 30;
  Engine engine(sized(64, 6 * gib));
  const auto large = engine.insert(at(0), 3 * gib),
             second = engine.insert(at(0, 2), 3 * gib - 4096);
  ASSERT_NE(large.entry, no_entry);
  ASSERT_NE(second.entry, no_entry);
  EXPECT_FALSE(engine.get(at(500, 3), 4000));
  EXPECT_TRUE(engine.get(at(500, 3), 4000));
  EXPECT_EQ(engine.cache->check(), nullptr);
  EXPECT_EQ(engine.insert(at(0, 4), 5 * gib).entry, no_entry) << "an entry has at most 4 GiB";
}

TEST(GetCache, CountsBeyondFourThousandMillionBytes) {
  Engine engine(sized(64, 4096));
  for (int i = 0; i < 5; ++i) engine.lookup(at(0), uint64_t{1} << 32);
  EXPECT_EQ(PolicyView(*engine.cache).average_bytes(), uint64_t{1} << 32);
}

TEST(GetCache, ResetForgetsEverythingButItsSizes) {
  for (const PolicyKind policy : all_policies) {
    Engine engine(sized(64, 4096, policy));
    engine.get(at(0), 100);
    const auto under_way = engine.insert(at(1000), 100);
    engine.cache->reset();
    EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
    EXPECT_FALSE(engine.cache->keeps(under_way.entry));
    engine.cache->abandon(under_way.entry, 0);
    EXPECT_EQ(engine.cache->check(), nullptr);
    EXPECT_EQ(engine.cache->storage_bytes(), 4096u);
    EXPECT_FALSE(engine.get(at(0), 100));
    EXPECT_TRUE(engine.get(at(0), 100));
  }
}

TEST(Entry, CoarseNumbersAreNearAndNeverLarger) {
  for (const uint32_t gets : {0u, 1u, 255u, 256u, 257u, 1000u, 65535u, 1000003u, 3000000000u}) {
    const uint32_t back = Entry::from_coarse(Entry::coarse(gets));
    EXPECT_LE(back, gets);
    EXPECT_GE(back, gets - gets / 128);
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
