#include "cache/get/index.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace nearcache {
namespace TEST_FILE {

// An index over entries that the test owns; entry i has the key made for i.
struct Table {
  Table(uint64_t capacity, uint64_t most_entries) : entries(most_entries) {
    EXPECT_TRUE(region.reserve(Index::bytes_for(capacity) + 64));
    index.attach(region.base(), entries.data(), capacity);
  }
  uint64_t name(EntryId id, const Key& key) {
    entries[id].displacement = key.displacement;
    entries[id].target = key.target;
    entries[id].layout = key.layout;
    return hash_key(key);
  }
  Region region;
  std::vector<Entry> entries;
  Index index;
};

Key key_of(uint64_t i) {
  return {static_cast<int64_t>(i * 500), static_cast<uint32_t>(i % 7),
          static_cast<uint32_t>(i % 3)};
}

TEST(Index, FindsWhatWasInsertedAndNothingElse) {
  Table table(64, 16);
  const Key key{4096, 3, 0};
  const uint64_t hash = table.name(5, key);
  EXPECT_EQ(table.index.find(hash, key), no_entry);
  ASSERT_TRUE(table.index.insert(hash, 5));
  EXPECT_EQ(table.index.find(hash, key), 5u);
  for (const Key& other : {Key{4096, 4, 0}, Key{4096, 3, 1}, Key{4097, 3, 0}})
    EXPECT_EQ(table.index.find(hash_key(other), other), no_entry);
  table.index.erase(hash, 5);
  EXPECT_EQ(table.index.find(hash, key), no_entry);
  EXPECT_EQ(table.index.used(), 0u);
}

// Hashes are not unique: the key decides, including each part of it.
TEST(Index, KeysOfOneHashAreToldApart) {
  Table table(64, 16);
  const Key keys[] = {{4096, 3, 0}, {4097, 3, 0}, {4096, 4, 0}, {4096, 3, 1}};
  const uint64_t hash = table.name(0, keys[0]);
  for (EntryId id = 0; id < 4; ++id) {
    EXPECT_EQ(table.index.find(hash, keys[id]), no_entry);
    table.name(id, keys[id]);
    ASSERT_TRUE(table.index.insert(hash, id));
  }
  for (EntryId id = 0; id < 4; ++id) EXPECT_EQ(table.index.find(hash, keys[id]), id);
}

TEST(Index, FillsToNinetyFivePercentWithoutAConflict) {
  for (const uint64_t capacity : {800u, 8000u, 80000u}) {
    const uint64_t wanted = capacity * 95 / 100;
    Table table(capacity, wanted);
    for (EntryId id = 0; id < wanted; ++id)
      ASSERT_TRUE(table.index.insert(table.name(id, key_of(id)), id)) << id << " of " << capacity;
    for (EntryId id = 0; id < wanted; ++id)
      ASSERT_EQ(table.index.find(hash_key(key_of(id)), key_of(id)), id);
  }
}

TEST(Index, StaysRightUnderInsertAndEraseAtNinetyToNinetySevenPercentLoad) {
  constexpr uint64_t capacity = 2000;
  std::mt19937 random(1);
  for (const int percent : {90, 97}) {
    Table table(capacity, 3000);
    std::vector<bool> present(3000, false);
    uint64_t count = 0, failed = 0;
    for (int step = 0; step < 100000; ++step) {
      const auto id = static_cast<EntryId>(random() % 3000);
      const uint64_t hash = table.name(id, key_of(id));
      ASSERT_EQ(table.index.find(hash, key_of(id)), present[id] ? id : no_entry);
      if (present[id]) {
        table.index.erase(hash, id);
        present[id] = false;
        --count;
      } else if (count < capacity * static_cast<uint64_t>(percent) / 100) {
        if (table.index.insert(hash, id)) {
          present[id] = true;
          ++count;
        } else {
          ++failed;
        }
      }
      ASSERT_EQ(table.index.used(), count);
    }
    for (EntryId id = 0; id < 3000; ++id)
      ASSERT_EQ(table.index.find(hash_key(key_of(id)), key_of(id)), present[id] ? id : no_entry);
    EXPECT_LT(failed, percent == 90 ? 10u : 2000u);
  }
}

TEST(Index, TinyAndOddCapacitiesHoldNoMoreThanTheirCapacity) {
  for (const uint64_t capacity : {1u, 2u, 3u, 7u, 9u, 17u}) {
    Table table(capacity, 64);
    uint64_t held = 0;
    for (EntryId id = 0; id < 64; ++id)
      held += table.index.insert(table.name(id, key_of(id)), id) ? 1 : 0;
    EXPECT_LE(held, capacity);
    EXPECT_GE(held, std::min<uint64_t>(capacity, 7));
    uint64_t found = 0;
    for (EntryId id = 0; id < 64; ++id)
      found += table.index.find(hash_key(key_of(id)), key_of(id)) == id ? 1 : 0;
    EXPECT_EQ(found, held);
  }
}

TEST(Index, AnInsertionThatFailsMovesNothingOut) {
  Table table(64, 4096);
  std::vector<EntryId> held;
  for (EntryId id = 0; id < 4096; ++id) {
    if (table.index.insert(table.name(id, key_of(id)), id)) held.push_back(id);
    for (const EntryId other : held)
      ASSERT_EQ(table.index.find(hash_key(key_of(other)), key_of(other)), other);
    if (held.size() == 64) break;
  }
}

// A published prototype's weak hash left 3 of 400 gets at stride 500 resident.
TEST(Index, EqualStridesSpreadOverTheBuckets) {
  for (const int64_t stride : {500, 501, 512, 4096, 1}) {
    Table table(440, 400);
    uint64_t held = 0;
    for (EntryId id = 0; id < 400; ++id)
      held += table.index.insert(table.name(id, {id * stride, 1, 0}), id) ? 1 : 0;
    EXPECT_EQ(held, 400u) << "stride " << stride;
  }
}

TEST(Index, ThePathOfAKeyHoldsTheEntriesThatAreInItsWay) {
  Table table(16, 64);
  for (EntryId id = 0; id < 16; ++id) table.index.insert(table.name(id, key_of(id)), id);
  const Key key = key_of(50);
  EntryId path[16];
  const int count = table.index.path(hash_key(key), path);
  ASSERT_GT(count, 0);
  table.index.erase(hash_key(table.entries[path[0]].key()), path[0]);
  EXPECT_TRUE(table.index.insert(table.name(50, key), 50));
}

TEST(Index, AnotherCapacityStartsEmpty) {
  Table table(4000, 100);
  for (EntryId id = 0; id < 100; ++id) table.index.insert(table.name(id, key_of(id)), id);
  for (const uint64_t capacity : {100u, 4000u, 1u}) {
    table.index.reset_capacity(capacity);
    EXPECT_EQ(table.index.used(), 0u);
    EXPECT_EQ(table.index.capacity(), capacity);
    for (EntryId id = 0; id < 100; ++id)
      ASSERT_EQ(table.index.find(hash_key(key_of(id)), key_of(id)), no_entry);
    EXPECT_TRUE(table.index.insert(hash_key(key_of(3)), 3));
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache
