#include "cache/get/storage.h"
#include "sanitized.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace nearcache {
namespace TEST_FILE {

struct Arena {
  Arena(uint64_t bytes, uint32_t most_entries, uint64_t most_bytes = 0) : entries(most_entries) {
    EXPECT_TRUE(region.reserve(std::max(bytes, most_bytes) + 4096));
    storage.attach(static_cast<std::byte*>(region.base()), entries.data(), most_entries, bytes);
  }
  EntryId take(uint64_t bytes) {
    const EntryId id = storage.new_descriptor();
    if (id == no_entry) return no_entry;
    entries[id].state = State::cached;
    if (storage.allocate(id, bytes)) return id;
    storage.free_descriptor(id);
    return no_entry;
  }
  uint64_t offset(EntryId id) const {
    return static_cast<uint64_t>(storage.data(id) - static_cast<std::byte*>(region.base()));
  }
  // Returns the pieces of free storage in address order, as (offset, bytes).
  std::map<uint64_t, uint64_t> free_pieces() const {
    std::map<uint64_t, uint64_t> pieces;
    for (EntryId id = storage.first(); id != no_entry; id = entries[id].after) {
      if (entries[id].state == State::free_space) pieces[offset(id)] = storage.room(id);
    }
    return pieces;
  }
  Region region;
  std::vector<Entry> entries;
  Storage storage;
};

TEST(Storage, RoundsToGranulesAndUsesEveryOne) {
  Arena arena(160, 20);
  EXPECT_EQ(arena.storage.room(arena.take(1)), 16u);
  EXPECT_EQ(arena.storage.room(arena.take(17)), 32u);
  EXPECT_EQ(arena.storage.free_bytes(), 112u);
  EXPECT_EQ(arena.take(113), no_entry);
  EXPECT_NE(arena.take(112), no_entry);
  EXPECT_EQ(arena.storage.free_bytes(), 0u);
  EXPECT_EQ(arena.take(1), no_entry);
}

TEST(Storage, FreeNeighboursMergeInEveryOrder) {
  std::vector<int> order{0, 1, 2, 3};
  do {
    Arena arena(64, 20);
    EntryId ids[4];
    for (EntryId& id : ids) id = arena.take(16);
    for (const int i : order) arena.storage.release(ids[i]);
    EXPECT_EQ(arena.free_pieces(), (std::map<uint64_t, uint64_t>{{0, 64}}));
    EXPECT_EQ(arena.storage.free_bytes(), 64u);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Storage, TakesTheBestFittingPiece) {
  Arena arena(16 * 100, 50);
  std::vector<EntryId> ids;
  for (const uint64_t granules : {10u, 1u, 4u, 1u, 7u, 1u})
    ids.push_back(arena.take(granules * 16));
  const uint64_t four = arena.offset(ids[2]), seven = arena.offset(ids[4]);
  for (const int i : {0, 2, 4}) arena.storage.release(ids[static_cast<size_t>(i)]);
  EXPECT_EQ(arena.offset(arena.take(7 * 16)), seven);
  EXPECT_EQ(arena.offset(arena.take(3 * 16)), four);
  EXPECT_EQ(arena.offset(arena.take(10 * 16)), 0u);
}

TEST(Storage, ExtendsIntoFreeSpaceBehindOnly) {
  Arena arena(160, 20);
  const EntryId a = arena.take(32), b = arena.take(32);
  EXPECT_TRUE(arena.storage.extend(a, 30));
  EXPECT_FALSE(arena.storage.extend(a, 33));
  EXPECT_TRUE(arena.storage.extend(b, 64));
  EXPECT_EQ(arena.storage.room(b), 64u);
  EXPECT_EQ(arena.storage.free_bytes(), 64u);
  EXPECT_FALSE(arena.storage.extend(b, 129));
  EXPECT_TRUE(arena.storage.extend(b, 128));
  EXPECT_EQ(arena.storage.free_bytes(), 0u);
  arena.storage.release(b);
  EXPECT_EQ(arena.free_pieces(), (std::map<uint64_t, uint64_t>{{32, 128}}));
}

TEST(Storage, FreeAroundCountsBothSides) {
  Arena arena(160, 20);
  const EntryId a = arena.take(32), b = arena.take(16);
  EXPECT_EQ(arena.storage.free_around(a), 0u);
  EXPECT_EQ(arena.storage.free_around(b), 112u);
  arena.storage.release(a);
  EXPECT_EQ(arena.storage.free_around(b), 144u);
}

TEST(Storage, GrowsAndShrinksAtItsEnd) {
  Arena arena(64, 20, 1024);
  const EntryId a = arena.take(64);
  EXPECT_TRUE(arena.storage.grow(128));  // behind an entry
  EXPECT_TRUE(arena.storage.grow(256));  // behind free space
  EXPECT_EQ(arena.free_pieces(), (std::map<uint64_t, uint64_t>{{64, 192}}));
  EXPECT_FALSE(arena.storage.shrink(48));
  EXPECT_EQ(arena.storage.bytes(), 256u);
  EXPECT_TRUE(arena.storage.shrink(64));
  EXPECT_TRUE(arena.free_pieces().empty());
  arena.storage.release(a);
  EXPECT_TRUE(arena.storage.shrink(0));
  EXPECT_EQ(arena.storage.first(), no_entry);
  EXPECT_EQ(arena.take(1), no_entry);
  EXPECT_TRUE(arena.storage.grow(32));
  EXPECT_NE(arena.take(32), no_entry);
}

TEST(Storage, DoesNotGrowWithoutADescriptorForTheNewPiece) {
  Arena arena(0, 2, 1024);
  ASSERT_NE(arena.storage.new_descriptor(), no_entry);
  const EntryId second = arena.storage.new_descriptor();
  EXPECT_FALSE(arena.storage.grow(1024));
  EXPECT_EQ(arena.storage.bytes(), 0u);
  arena.storage.free_descriptor(second);
  EXPECT_TRUE(arena.storage.grow(1024));
  EXPECT_EQ(arena.storage.free_bytes(), 1024u);
}

TEST(Storage, PlacesBeyondFourGiBDoNotOverflow) {
  constexpr uint64_t gib = uint64_t{1} << 30;
  Arena arena(9 * gib, 20, 12 * gib);
  const EntryId a = arena.take(3 * gib), b = arena.take(3 * gib), c = arena.take(3 * gib - 16),
                d = arena.take(16);
  ASSERT_NE(d, no_entry);
  EXPECT_EQ(arena.offset(b), 3 * gib);
  EXPECT_EQ(arena.offset(c), 6 * gib);
  EXPECT_EQ(arena.offset(d), 9 * gib - 16);
  *arena.storage.data(d) = std::byte{42};
  EXPECT_EQ(*(static_cast<std::byte*>(arena.region.base()) + 9 * gib - 16), std::byte{42});
  EXPECT_TRUE(arena.storage.grow(12 * gib));
  EXPECT_EQ(arena.storage.free_bytes(), 3 * gib);
  arena.storage.release(b);
  arena.storage.release(a);
  EXPECT_EQ(arena.free_pieces(), (std::map<uint64_t, uint64_t>{{0, 6 * gib}, {9 * gib, 3 * gib}}));
}

// Every byte belongs to one entry or is free, whatever happened; contents are never moved.
TEST(Storage, AgreesWithANaiveModelInARandomRun) {
  std::mt19937 random(7);
  constexpr uint64_t most = 4096 * 16;
  Arena arena(2048 * 16, 600, most);
  std::map<EntryId, std::pair<uint64_t, uint64_t>> held;  // id -> (offset, room)
  uint64_t end = 2048 * 16;
  const auto free_map = [&] {
    std::map<uint64_t, uint64_t> taken, pieces;
    for (const auto& [id, piece] : held) taken[piece.first] = piece.second;
    uint64_t at = 0;
    for (const auto& [from, bytes] : taken) {
      if (from > at) pieces[at] = from - at;
      at = from + bytes;
    }
    if (end > at) pieces[at] = end - at;
    return pieces;
  };
  for (int step = 0; step < steps_of(20000); ++step) {
    const auto what = random() % 100;
    if (what < 50) {
      const uint64_t bytes = 1 + (random() % 8 == 0 ? random() % 3000 : random() % 300);
      uint64_t largest = 0;
      for (const auto& [from, size] : free_map()) largest = std::max(largest, size);
      const EntryId id = arena.take(bytes);
      if (id != no_entry) {
        held[id] = {arena.offset(id), (bytes + 15) / 16 * 16};
      } else {
        EXPECT_TRUE(held.size() > 300 || largest < bytes)
            << "room for " << bytes << " was not found";
      }
    } else if (what < 90 && !held.empty()) {
      auto it = held.lower_bound(static_cast<EntryId>(random() % 600));
      if (it == held.end()) it = held.begin();
      if (what < 80) {
        arena.storage.release(it->first);
        held.erase(it);
      } else if (const uint64_t bytes = it->second.second + random() % 100;
                 arena.storage.extend(it->first, bytes)) {
        it->second.second = std::max(it->second.second, (bytes + 15) / 16 * 16);
      }
    } else {
      const uint64_t wanted = random() % (most / 16) * 16;
      if (wanted > end ? arena.storage.grow(wanted) : arena.storage.shrink(wanted)) end = wanted;
    }
    uint64_t free_bytes = 0;
    const auto expected = free_map();
    for (const auto& [from, bytes] : expected) free_bytes += bytes;
    ASSERT_EQ(arena.storage.free_bytes(), free_bytes) << "step " << step;
    ASSERT_EQ(arena.free_pieces(), expected) << "step " << step;
    for (const auto& [id, piece] : held) {
      ASSERT_EQ(arena.offset(id), piece.first);
      ASSERT_EQ(arena.storage.room(id), piece.second);
    }
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache
