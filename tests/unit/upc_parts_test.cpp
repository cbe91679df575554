// Parts of the UPC runtime that do not depend on OpenSHMEM: blocks within chunks, puts in flight,
// the table of held locks.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "sanitized.h"
#include "upc/held_locks.h"
#include "upc/in_flight.h"
#include "upc/pool.h"

namespace nearcache::upc {
namespace TEST_FILE {

constexpr size_t page = 4096;

// A pool over pages that are added from below or above, and the blocks that it has allocated.
struct Model {
  explicit Model(size_t pages) : memory(pages * page + 16), low(pages / 2), high(pages / 2) {
    pool.start(base());
  }

  char* base() {
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) &
                                   ~uintptr_t{15});
  }
  void grow_up(size_t pages) {
    pool.add_chunk(high * page, pages * page);
    high += pages;
  }
  void grow_down(size_t pages) {
    low -= pages;
    pool.add_chunk(low * page, pages * page);
  }

  bool allocate(size_t bytes) {
    const uint64_t block = pool.allocate(bytes);
    if (block == 0) return false;
    EXPECT_EQ(block % unit, 0u);
    EXPECT_GE(pool.bytes_of(block), bytes);
    EXPECT_GE(block - Pool::header_bytes, low * page);
    EXPECT_LE(block + pool.bytes_of(block) + Pool::header_bytes, high * page);
    const auto after = blocks.lower_bound(block);
    EXPECT_TRUE(after == blocks.end() || block + bytes <= after->first - Pool::header_bytes);
    EXPECT_TRUE(after == blocks.begin() ||
                std::prev(after)->first + std::prev(after)->second <= block - Pool::header_bytes);
    memset(base() + block, static_cast<int>(block / unit), bytes);
    blocks[block] = bytes;
    return true;
  }
  void free(std::map<uint64_t, size_t>::iterator one) {
    for (size_t i = 0; i < one->second; ++i) {
      ASSERT_EQ(static_cast<unsigned char>(base()[one->first + i]),
                static_cast<unsigned char>(one->first / unit));
    }
    pool.free(one->first);
    blocks.erase(one);
  }

  std::vector<char> memory;
  size_t low, high;  // pages
  Pool pool;
  std::map<uint64_t, size_t> blocks;
};

TEST(UpcPool, RandomBlocksDoNotOverlapAndAllMemoryComesBack) {
  std::mt19937 random(3);
  for (int run = 0; run < steps_of(20); ++run) {
    Model model(512);
    const bool up = run % 2 == 0;
    const auto grow = [&](size_t pages) { up ? model.grow_up(pages) : model.grow_down(pages); };
    grow(2);
    size_t grown = 2;
    for (int step = 0; step < 4000; ++step) {
      if (random() % 5 < 3) {
        const size_t bytes = 1 + random() % (random() % 8 == 0 ? 20000 : 300);
        if (!model.allocate(bytes) && grown + 8 <= 250) {
          grow(8);
          grown += 8;
        }
      } else if (!model.blocks.empty()) {
        model.free(
            std::next(model.blocks.begin(), static_cast<long>(random() % model.blocks.size())));
      }
    }
    while (!model.blocks.empty()) model.free(model.blocks.begin());
    // one block again
    EXPECT_TRUE(model.allocate(grown * page - Pool::chunk_overhead)) << "run " << run;
  }
}

TEST(UpcPool, ChunksOnBothSidesJoin) {
  Model model(64);
  model.grow_up(1);
  model.grow_down(1);
  model.grow_up(3);
  EXPECT_FALSE(model.allocate(5 * page));
  EXPECT_TRUE(model.allocate(5 * page - Pool::chunk_overhead));
}

TEST(UpcPool, TrimsWholeFreePagesAtItsEdge) {
  Model model(64);
  model.grow_down(10);
  EXPECT_EQ(model.pool.trim_low((model.low + 1) * page, page, page), 0u);  // not its edge
  EXPECT_EQ(model.pool.trim_low(model.low * page, page, 20 * page), 0u);   // less than asked for
  ASSERT_TRUE(model.allocate(100));
  const size_t cut = model.pool.trim_low(model.low * page, page, page);
  EXPECT_EQ(cut, 0u);  // the block is at the lower end
  model.free(model.blocks.begin());
  EXPECT_EQ(model.pool.trim_low(model.low * page, page, page), 9 * page);
  model.low += 9;
  EXPECT_FALSE(model.allocate(page));
  EXPECT_TRUE(model.allocate(page - Pool::chunk_overhead));

  Model upper(64);
  upper.grow_up(10);
  ASSERT_TRUE(upper.allocate(3 * page));
  EXPECT_EQ(upper.pool.trim_high(upper.high * page, page, page), 6 * page);
  upper.high -= 6;
  EXPECT_FALSE(upper.allocate(page));
  upper.grow_up(6);
  EXPECT_TRUE(upper.allocate(6 * page));
}

TEST(UpcInFlight, NoOverlapIsMissed) {
  std::mt19937 random(5);
  InFlight in_flight;
  std::set<std::pair<size_t, uint64_t>> bytes;  // in flight
  for (int step = 0; step < steps_of(3000); ++step) {
    const size_t thread = random() % 3, count = 1 + random() % (random() % 10 == 0 ? 6000 : 40);
    const uint64_t offset = random() % 100000;
    bool overlap = false;
    for (uint64_t i = 0; i < count && !overlap; ++i)
      overlap = bytes.count({thread, offset + i}) != 0;
    if (overlap || bytes.empty()) {
      EXPECT_EQ(in_flight.overlaps(thread, offset, count), overlap);
    }
    if (random() % 10 == 0) {
      in_flight.clear();
      bytes.clear();
    } else {
      in_flight.add(thread, offset, count);
      for (uint64_t i = 0; i < count; ++i) bytes.insert({thread, offset + i});
    }
  }
}

TEST(UpcInFlight, OneWordDoesNotHinderOthers) {
  InFlight in_flight;
  in_flight.add(1, 64000, 8);
  int hindered = 0;
  for (uint64_t line = 0; line < 500; ++line) hindered += in_flight.overlaps(1, line * 64, 8);
  EXPECT_LE(hindered, 2);
  EXPECT_TRUE(in_flight.overlaps(1, 64004, 1));
  EXPECT_FALSE(in_flight.overlaps(1, 64000, 0));
}

TEST(UpcInFlight, WhatHasArrivedHindersNothing) {
  InFlight in_flight;
  in_flight.add(1, 64000, 8);
  in_flight.clear();
  in_flight.add(1, 128, 8);
  EXPECT_FALSE(in_flight.overlaps(1, 64000, 8));
  EXPECT_TRUE(in_flight.overlaps(1, 128, 8));
}

TEST(UpcHeldLocks, FindsWhatIsHeldAndNothingElse) {
  std::mt19937 random(7);
  static HeldLocks held;  // lives as long as the process, like the runtime's
  std::map<uint64_t, uint64_t> model;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t key = (random() % 4 + 1) << 40 | (random() % 60 + 1) * 64;
    const HeldLocks::Entry* entry = held.find(key);
    ASSERT_EQ(entry != nullptr, model.count(key) != 0);
    if (entry != nullptr) {
      ASSERT_EQ(entry->node, model[key]);
      held.remove(key);
      model.erase(key);
    } else if (random() % 3 != 0) {
      ASSERT_TRUE(held.add({key, static_cast<uint64_t>(step)}));
      model[key] = static_cast<uint64_t>(step);
    }
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::upc
