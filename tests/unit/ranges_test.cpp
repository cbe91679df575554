// Gets that begin where no cached entry does: entries that contain or overlap them are found, as a
// search through all entries confirms.
#include "cache/get/ranges.h"

#include <algorithm>
#include <random>
#include <vector>

#include "engine.h"

namespace nearcache::test {
namespace TEST_FILE {

using Found = GetCache::Found;

Key at(int64_t displacement, uint32_t target = 1) { return {displacement, target, 0}; }

void cached(Engine& engine, const Key& key, uint64_t bytes) {
  engine.lookup(key, bytes);
  const auto inserted = engine.insert(key, bytes);
  ASSERT_NE(inserted.entry, no_entry);
  engine.arrive(inserted.entry, bytes);
}

TEST(Ranges, APartOfAnEntryIsFoundWhereverItLies) {
  Engine engine(sized(64, 1 << 16));
  cached(engine, at(1000), 300);
  for (const auto& [from, bytes] : std::vector<std::pair<int64_t, uint64_t>>{
           {1000, 8}, {1001, 299}, {1023, 2}, {1299, 1}, {1100, 200}}) {
    const auto found = engine.cache->overlap(at(from), bytes);
    EXPECT_EQ(found.found, Found::full) << from;
    EXPECT_EQ(found.offset, static_cast<uint64_t>(from - 1000));
  }
  EXPECT_EQ(engine.cache->overlap(at(999), 1).found, Found::none);
  EXPECT_EQ(engine.cache->overlap(at(1300), 1).found, Found::none);
  EXPECT_EQ(engine.cache->overlap(at(1100, 2), 8).found, Found::none) << "of another target";
  EXPECT_EQ(engine.cache->overlap({1100, 1, 5}, 8).found, Found::none) << "of another layout";
}

TEST(Ranges, AnOverlapHasAHeadOrATailOrBoth) {
  Engine engine(sized(64, 1 << 16));
  cached(engine, at(0), 100);
  cached(engine, at(150), 100);
  auto found = engine.cache->overlap(at(90), 50);
  EXPECT_EQ(found.found, Found::partial);
  EXPECT_EQ(found.head, 10u);
  EXPECT_EQ(found.offset, 90u);
  EXPECT_EQ(found.tail, 0u);
  found = engine.cache->overlap(at(110), 60);
  EXPECT_EQ(found.head, 0u);
  EXPECT_EQ(found.tail, 20u);
  found = engine.cache->overlap(at(60), 100);
  EXPECT_EQ(found.head, 40u);
  EXPECT_EQ(found.tail, 10u);
  EXPECT_NE(found.entry, found.last_entry);
}

TEST(Ranges, AnEntryUnderWayIsFoundIfItContainsAllBytes) {
  Engine engine(sized(64, 1 << 16));
  engine.lookup(at(0), 100);
  ASSERT_NE(engine.insert(at(0), 100, 7).entry, no_entry);
  const auto found = engine.cache->overlap(at(40), 60);
  EXPECT_EQ(found.found, Found::pending);
  EXPECT_EQ(found.token, 7u);
  EXPECT_EQ(found.offset, 40u);
  EXPECT_EQ(engine.cache->overlap(at(40), 61).found, Found::none);
}

TEST(Ranges, AWriteToAnyByteOfAnEntryEndsAllItsParts) {
  Engine engine(sized(64, 1 << 16));
  cached(engine, at(0), 1000);
  engine.cache->record_write(1, 5000, 5008);
  EXPECT_EQ(engine.cache->overlap(at(8), 8).found, Found::full);
  engine.cache->record_write(1, 900, 908);
  // A check that confirmed the whole entry must have covered the whole entry.
  EXPECT_EQ(engine.cache->overlap(at(8), 8).found, Found::none);
  EXPECT_EQ(engine.cache->overlap(at(900), 8).found, Found::none);
  EXPECT_EQ(engine.lookup(at(0), 100).found, Found::none);
  EXPECT_EQ(engine.cache->check(), nullptr) << "it is listed nowhere any more";
}

TEST(Ranges, NothingOfAnOlderGenerationIsFound) {
  Engine engine(sized(64, 1 << 16));
  cached(engine, at(0), 1000);
  EXPECT_EQ(engine.cache->overlap(at(8), 8).found, Found::full);
  engine.cache->invalidate();
  EXPECT_EQ(engine.cache->overlap(at(8), 8).found, Found::none);
  cached(engine, at(0), 1000);
  EXPECT_EQ(engine.cache->overlap(at(8), 8).found, Found::full);
}

TEST(Ranges, AnEntryThatGrewIsFoundByItsTail) {
  Engine engine(sized(64, 1 << 16));
  cached(engine, at(0), 100);
  EXPECT_EQ(engine.cache->overlap(at(8), 8).found, Found::full);
  const EntryId grown =
      engine.cache->grow(hash_key(at(0)), engine.lookup(at(0), 300).entry, 300, 3);
  ASSERT_NE(grown, no_entry);
  EXPECT_EQ(engine.cache->overlap(at(50), 50).found, Found::full)
      << "the head is there while the tail is under way";
  EXPECT_NE(engine.cache->overlap(at(200), 8).found, Found::full);
  engine.arrive(grown, 300);
  EXPECT_EQ(engine.cache->overlap(at(200), 100).found, Found::full);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

TEST(Ranges, WhereLinesAreFetchedAllStayListedThoughFewPartsWereAskedFor) {
  Engine engine(sized(1024, 1 << 16));
  MemoryBudget budget;
  cached(engine, at(1 << 20), 8);
  const auto look_in_vain = [&](int times) {
    for (int i = 0; i < times; ++i) engine.cache->overlap(at(i * 64), 8);
    return engine.cache->ranges().change_is_due();
  };
  engine.cache->expect_overlaps();
  EXPECT_FALSE(look_in_vain(256));
  EXPECT_TRUE(look_in_vain(256)) << "no line was fetched meanwhile";
  engine.cache->expect_overlaps();
  EXPECT_FALSE(engine.cache->ranges().change_is_due());
  EXPECT_TRUE(look_in_vain(512));
  engine.cache->adapt(&budget);
  EXPECT_EQ(engine.cache->ranges().listed(), Ranges::Listed::some);
  engine.cache->expect_overlaps();
  EXPECT_EQ(engine.cache->ranges().listed(), Ranges::Listed::all);
}

TEST(Ranges, APartIsFoundAgainWithoutASearch) {
  Engine engine(sized(64, 1 << 16));
  cached(engine, at(512), 200);
  uint64_t offset = 0;
  const auto part = [&](const Key& key, uint64_t bytes) {
    const Entry* found = engine.cache->find_part(key, bytes, &offset);
    return found == nullptr ? no_entry : engine.cache->id_of(found);
  };
  EXPECT_EQ(part(at(600), 8), no_entry) << "nobody has searched yet";
  const EntryId id = engine.cache->overlap(at(600), 8).entry;
  engine.cache->note_part(at(600), id);
  EXPECT_EQ(part(at(600), 8), id);
  EXPECT_EQ(offset, 88u);
  EXPECT_EQ(part(at(704), 8), id) << "its last bytes";
  EXPECT_EQ(offset, 192u);
  EXPECT_EQ(part(at(704), 9), no_entry) << "beyond its end";
  EXPECT_EQ(part(at(712), 1), no_entry);
  engine.cache->note_part(at(500), id);
  EXPECT_EQ(part(at(504), 8), no_entry) << "before its begin";
  engine.cache->note_part(at(600, 2), id);
  EXPECT_EQ(part(at(600, 2), 8), no_entry) << "of another target";
  engine.cache->note_part({600, 1, 5}, id);
  EXPECT_EQ(part({600, 1, 5}, 8), no_entry) << "of another layout";
  EXPECT_EQ(engine.cache->overlap(at(600), 8).found, Found::full);
}

TEST(Ranges, APartThatIsNotValidAnyMoreIsNotFoundWithoutASearch) {
  Engine engine(sized(64, 1 << 16));
  uint64_t offset = 0;
  const auto part = [&] { return engine.cache->find_part(at(600), 8, &offset); };
  const auto note = [&] {
    cached(engine, at(512), 200);
    engine.cache->note_part(at(600), engine.cache->overlap(at(600), 8).entry);
    EXPECT_NE(part(), nullptr);
  };
  note();
  engine.cache->record_write(1, 5000, 5008);
  EXPECT_EQ(part(), nullptr) << "who knows what was written";
  EXPECT_EQ(engine.cache->overlap(at(600), 8).found, Found::full)
      << "a search says that it was another place";
  EXPECT_NE(part(), nullptr);
  engine.cache->record_write(1, 700, 708);
  EXPECT_EQ(part(), nullptr);
  EXPECT_EQ(engine.cache->overlap(at(600), 8).found, Found::none);
  note();
  engine.cache->invalidate();
  EXPECT_EQ(part(), nullptr);
  cached(engine, at(512), 200);
  EXPECT_EQ(part(), nullptr) << "it is a new one, of which there is something to learn";
  note();
  engine.cache->discard(engine.cache->find(hash_key(at(512)), at(512)));
  EXPECT_EQ(part(), nullptr);
  EXPECT_EQ(engine.insert(at(512), 200).how, GetCache::Insert::direct);
  EXPECT_EQ(part(), nullptr) << "it is under way";
}

// Without writes, and with room for all, the result is exactly what exists.
TEST(Ranges, RandomRangesAreFoundAsASearchThroughAllFindsThem) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Engine engine(sized(256, 1 << 17), {1024, 1 << 18});
    MemoryBudget budget;
    budget.take(engine.cache->memory());
    struct Piece {
      int64_t from;
      uint64_t bytes;
    };
    std::vector<Piece> pieces;
    uint64_t full = 0;
    for (int step = 0; step < 400; ++step) {
      const auto from = static_cast<int64_t>(random() % 20000) - 5000;
      const uint64_t bytes = 1 + random() % (random() % 4 == 0 ? 2000 : 64);
      if (engine.lookup(at(from), bytes).found != Found::none) continue;
      const auto found = engine.cache->overlap(at(from), bytes);
      if (engine.cache->ranges().change_is_due()) engine.cache->adapt(&budget);
      uint64_t head = 0, tail = 0;
      std::erase_if(pieces, [&](const Piece& piece) {
        return engine.cache->find(hash_key(at(piece.from)), at(piece.from)) == no_entry;
      });
      for (const Piece& piece : pieces) {
        const int64_t end = piece.from + static_cast<int64_t>(piece.bytes),
                      last = from + static_cast<int64_t>(bytes);
        if (piece.from <= from && end > from)
          head = std::max(head, static_cast<uint64_t>(end - from));
        if (piece.from > from && piece.from < last && end >= last)
          tail = std::max(tail, static_cast<uint64_t>(last - piece.from));
      }
      ASSERT_EQ(found.found == Found::full, head >= bytes) << seed << ' ' << step;
      if (found.found == Found::full) {
        ++full;
        ASSERT_GE(engine.cache->entry(found.entry).size, found.offset + bytes);
        continue;
      }
      ASSERT_EQ(found.head, head) << seed << ' ' << step;
      ASSERT_EQ(found.tail, tail) << seed << ' ' << step;
      if (random() % 8 == 0) {
        ASSERT_EQ(engine.cache->check(), nullptr);
        continue;
      }
      if (pieces.size() >= 50) continue;  // few enough that none is left out
      const auto inserted = engine.insert(at(from), bytes);
      if (inserted.entry == no_entry) continue;
      engine.arrive(inserted.entry, bytes);
      pieces.push_back({from, bytes});
    }
    ASSERT_TRUE(engine.cache->ranges().complete());
    EXPECT_GT(full, 10u) << seed;
  }
}

TEST(Ranges, ManyEntriesAtOnePlaceAreLeftOutAndFoundByTheirKeys) {
  Engine engine(sized(1024, 1 << 20));
  engine.cache->overlap(at(0), 1);
  for (int64_t i = 0; i < 200; ++i) cached(engine, at(i), 256);
  EXPECT_FALSE(engine.cache->ranges().complete());
  EXPECT_EQ(engine.cache->check(), nullptr);
  for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(engine.lookup(at(i), 256).found, Found::full);
  EXPECT_EQ(engine.cache->overlap(at(100), 20).found, Found::full) << "one of them will do";
}

TEST(Ranges, WhereNothingIsFoundFewAreListedUntilSomethingIs) {
  Engine engine(sized(4096, 1 << 20));
  MemoryBudget budget;
  budget.take(engine.cache->memory());
  const auto adapt = [&] {
    if (engine.cache->ranges().change_is_due()) engine.cache->adapt(&budget);
  };
  for (int64_t i = 0; i < 1000; ++i) {
    cached(engine, at(i * 64), 64);
    engine.cache->overlap(at((i + 1) * 64), 64);
    adapt();
  }
  EXPECT_EQ(engine.cache->ranges().listed(), Ranges::Listed::some);
  EXPECT_LT(engine.cache->ranges().places(), 200u);
  EXPECT_EQ(engine.cache->check(), nullptr);
  for (int64_t i = 0; i < 20000 && engine.cache->ranges().listed() == Ranges::Listed::some; ++i) {
    engine.lookup(at(i % 1000 * 64 + 8), 8);
    engine.cache->overlap(at(i % 1000 * 64 + 8), 8);
    adapt();
  }
  EXPECT_EQ(engine.cache->ranges().listed(), Ranges::Listed::all);
  EXPECT_EQ(engine.cache->overlap(at(640 + 8), 8).found, Found::full);
  EXPECT_EQ(engine.cache->check(), nullptr);
}

}  // namespace TEST_FILE
}  // namespace nearcache::test
