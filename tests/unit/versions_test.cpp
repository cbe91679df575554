// Mode coherent without MPI: what versions allow to be kept across acquires.
#include "cache/get/versions.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/allowance.h"
#include "cache/get/cached_window.h"
#include "plain_get.h"
#include "sanitized.h"

namespace nearcache {
namespace TEST_FILE {

TEST(Regions, CoverAllBytesAlikeForAllRanks) {
  const Regions regions(1 << 20);
  EXPECT_EQ(regions.bytes(), 1u << 14);
  EXPECT_EQ(regions.mask(0, 1), 1u);
  EXPECT_EQ(regions.mask(0, 1 << 20), ~uint64_t{0});
  EXPECT_EQ(regions.mask((1 << 14) - 1, (1 << 14) + 1), 3u);
  EXPECT_EQ(regions.mask(5, 5), 0u);
  EXPECT_EQ(regions.mask(INT64_MIN, INT64_MAX), ~uint64_t{0}) << "where the bytes are not known";
  EXPECT_EQ(regions.of(-1), 0u);
  EXPECT_EQ(regions.of(INT64_MAX), 63u);
  EXPECT_EQ(Regions(0).bytes(), 256u);
  const Regions led = regions.led_by(regions.lead_of(0x123010, 0x1000));
  EXPECT_EQ(led.mask(0, (1 << 14) - 16), 1u);
  EXPECT_EQ(led.mask((1 << 14) - 17, (1 << 14) - 15), 3u);
  EXPECT_EQ(led.begin(0), 0u);
  EXPECT_EQ(led.begin(1), (1u << 14) - 16);
  EXPECT_EQ(led.of((1 << 20) - 1), 63u) << "the last one has the rest";
  EXPECT_EQ(Regions(0).lead_of(0x123010, 0x1000), 0u) << "smaller than a page";
}

class VersionsTest : public testing::Test {
 protected:
  static constexpr uint32_t target = 1;
  VersionsTest() { words.own.fill(2); }
  // A validation, then one get of byte 0 that is kept.
  void validate(uint32_t generation) { versions.validated(target, generation, words); }
  bool keeps(uint32_t stamp, uint32_t generation, int64_t at = 0) {
    return versions.keeps(target, at, at + 8, stamp, generation);
  }

  VersionWords words{};
  Versions versions{4, Regions(64 * 256), 1};
};

TEST_F(VersionsTest, NothingIsKeptBeforeTheWordsAreRead) {
  versions.fetched(target, 5);
  EXPECT_FALSE(keeps(5, 6));
  validate(6);
  EXPECT_FALSE(keeps(5, 6)) << "nobody knows what was written before";
}

TEST_F(VersionsTest, WhatWasFetchedAfterIsKeptWhileTheyStayTheSame) {
  validate(5);
  versions.fetched(target, 5);
  EXPECT_FALSE(keeps(5, 6)) << "not read again in generation 6";
  validate(6);
  EXPECT_TRUE(keeps(5, 6));
  EXPECT_FALSE(keeps(4, 6));
}

TEST_F(VersionsTest, EachWordOfEachRegionCounts) {
  for (uint32_t region = 0; region < VersionWords::regions; ++region) {
    for (const bool own : {false, true}) {
      Versions fresh{4, Regions(64 * 256), 1};
      fresh.validated(target, 5, words);
      VersionWords changed = words;
      (own ? changed.own[region] : changed.remote[region]) +=
          own ? 2 : VersionWords::open + VersionWords::close;
      EXPECT_EQ(fresh.validated(target, 6, changed), 1u);
      EXPECT_FALSE(fresh.keeps(target, region * 256, region * 256 + 1, 5, 6));
      EXPECT_TRUE(fresh.keeps(target, (region ^ 1) * 256, (region ^ 1) * 256 + 1, 5, 6));
      EXPECT_FALSE(fresh.keeps(target, 0, 64 * 256, 5, 6)) << "an entry that touches it";
    }
  }
}

TEST_F(VersionsTest, NothingIsKeptOfARegionThatIsWrittenOrNotWatched) {
  for (const bool own : {false, true}) {
    Versions fresh{4, Regions(64 * 256), 1};
    VersionWords busy = words;
    (own ? busy.own[0] : busy.remote[0]) += 1;
    fresh.validated(target, 5, busy);
    fresh.validated(target, 6, busy);
    EXPECT_FALSE(fresh.keeps(target, 0, 8, 5, 6));
    fresh.validated(target, 7, words);
    EXPECT_FALSE(fresh.keeps(target, 0, 8, 6, 7)) << "fetched while it was written";
    EXPECT_TRUE(fresh.keeps(target, 0, 8, 7, 7));
  }
}

TEST_F(VersionsTest, WhatWasFetchedBeforeTheWordsInTheSameGenerationMayBeOlder) {
  validate(5);
  versions.fetched(target, 6);
  words.own[0] += 2;
  validate(6);
  validate(7);
  EXPECT_FALSE(keeps(6, 7));
}

TEST_F(VersionsTest, StampsWrap) {
  validate(UINT32_MAX);
  validate(1);
  EXPECT_TRUE(keeps(UINT32_MAX, 1));
  words.own[0] += 2;
  validate(2);
  EXPECT_FALSE(keeps(UINT32_MAX, 2));
  EXPECT_FALSE(keeps(1, 2));
}

TEST_F(VersionsTest, NothingIsKeptThatWasForgotten) {
  validate(5);
  versions.forget(6);
  EXPECT_FALSE(keeps(5, 6));
  validate(6);
  EXPECT_FALSE(keeps(5, 6));
}

TEST_F(VersionsTest, ValidationsThatBringNothingBecomeRare) {
  for (const bool watched : {true, false}) {
    Versions fresh{4, Regions(64 * 256), 1};
    if (!watched) words.own.fill(VersionWords::not_watched);
    uint32_t asked = 0;
    for (uint32_t generation = 1; generation <= 4000; ++generation) {
      if (!fresh.wants_validation(target, generation)) continue;
      ++asked;
      fresh.validated(target, generation, words);
    }
    EXPECT_LT(asked, 20u) << watched;
    EXPECT_GT(fresh.barren(), 5u) << watched;
  }
}

TEST_F(VersionsTest, OneThatBringsNothingIsFollowedByAnother) {
  validate(2);
  validate(3);  // the first had nothing to keep
  ASSERT_TRUE(versions.wants_validation(target, 4));
  validate(4);
  EXPECT_TRUE(versions.wants_validation(target, 5)) << "everything may have been written anew";
  validate(5);
  EXPECT_FALSE(versions.wants_validation(target, 6));
  EXPECT_TRUE(versions.wants_validation(target, 7));
}

// Words of an owner whose memory begins 16 bytes after the start of a page.
TEST_F(VersionsTest, RegionsAreThoseOfTheirOwner) {
  Versions fresh{4, Regions(64 * 4096), 1};
  words.lead = 1 + 16;
  fresh.validated(target, 5, words);
  words.own[1] += 2;
  fresh.validated(target, 6, words);
  EXPECT_TRUE(fresh.keeps(target, 4072, 4080, 5, 6));
  EXPECT_FALSE(fresh.keeps(target, 4080, 4088, 5, 6));
  EXPECT_FALSE(fresh.keeps(target, 4072, 4088, 5, 6));
  EXPECT_FALSE(fresh.keeps(target, 8168, 8176, 5, 6));
  EXPECT_TRUE(fresh.keeps(target, 8176, 8184, 5, 6));
  EXPECT_TRUE(fresh.keeps(0 + target, 0, 8, 5, 6));
}

TEST_F(VersionsTest, ValidationsThatBringHitsGoOn) {
  for (uint32_t generation = 2; generation <= 100; ++generation) {
    ASSERT_TRUE(versions.wants_validation(target, generation));
    validate(generation);
    EXPECT_FALSE(versions.wants_validation(target, generation)) << "once a generation";
    keeps(generation, generation);
    keeps(generation, generation);
  }
  EXPECT_EQ(versions.barren(), 0u);
}

// The first get of an epoch may be issued before the words can be read; a second one in the same
// epoch is validated.
TEST(VersionsOfAWindow, WhatWasFetchedBeforeTheWordsInTheSameEpochIsNotKept) {
  MemoryBudget budget;
  Acquires acquires;
  CachingRules rules{Options()};
  rules.mode = Mode::coherent;
  rules.skip_cheap = false;
  CachedWindow window({0, 2, 1, 4096}, rules, &budget, &acquires, CachedWindow::Data::moved);
  window.epochs().lock_all();
  window.keep_across_acquires(Regions(4096));
  ASSERT_TRUE(window.make_cache(window.growth_within(1 << 20)));
  acquires.add(false);
  VersionWords words{};
  std::array<std::byte, 64> data{};
  const RemoteGet get = plain_get(1, 0, data.size(), data.data());
  const auto fetch = [&] {
    const CachedWindow::Decision decision = window.look_up(get, false);
    if (decision.answer == CachedWindow::Answer::served) return true;
    window.issued(get, decision);
    window.end_sync(window.begin_sync(Targets::all(), false), true);
    return false;
  };
  const auto validate = [&] {
    ASSERT_TRUE(window.wants_validation(1));
    window.validated(1, words);
  };
  ASSERT_FALSE(fetch());
  words.own[0] += 2;  // a store and a release, after the data was read
  validate();
  EXPECT_TRUE(fetch()) << "the epoch is still the same";
  acquires.add(false);
  validate();
  EXPECT_FALSE(fetch());
  acquires.add(false);
  validate();
  EXPECT_TRUE(fetch());
}

TEST(AllowanceTest, IsAShareOfTheTimeThatPasses) {
  Allowance allowance(50, 100, 1000);
  EXPECT_TRUE(allowance.left(1000));
  allowance.spent(100);
  EXPECT_TRUE(allowance.left(1000));
  allowance.spent(10);
  EXPECT_FALSE(allowance.left(1000));
  EXPECT_FALSE(allowance.left(1400));
  EXPECT_TRUE(allowance.left(1501));
  EXPECT_TRUE(allowance.left(1000000));
  allowance.spent(101);
  EXPECT_FALSE(allowance.left(1000000)) << "no more than so much is saved up";
}

// --- A reader among writers, who do as they please; every get is checked. ---

// The memory of three targets, changed by others in small steps in random order and announced as
// the protocol requires.
class World {
 public:
  static constexpr uint32_t ranks = 4, own_rank = 0;
  static constexpr int64_t bytes = 64 * 256;

  explicit World(uint32_t seed)
      : random(seed),
        writes_rarely(seed % 2 == 0 ? 20 : 3),
        hot(seed % 4 < 2 ? 2048 : 64),
        window({own_rank, ranks, 1, bytes}, rules(), &budget, &acquires,
               CachedWindow::Data::moved) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      memory[rank].resize(bytes);
      words[rank] = VersionWords{};
    }
    window.epochs().lock_all();
    window.keep_across_acquires(regions);
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
  }
  uint64_t kept() const { return window.versions()->kept(); }

 private:
  struct Put {  // by another rank, which announced it
    uint32_t target;
    int64_t at;
    uint8_t value;
    bool arrived;
  };
  struct Get {
    std::vector<std::byte> buffer;
    std::byte* data;  // destination of fetched data
    uint32_t target;
    int64_t at, from;
    uint64_t size, bytes;
    bool moved;
  };

  static CachingRules rules() {
    CachingRules rules{Options()};
    rules.mode = Mode::coherent;
    rules.skip_cheap = false;
    rules.cache.storage_bytes = 1 << 16;
    rules.cache.index_capacity = 512;
    return rules;
  }
  uint64_t below(uint64_t bound) { return random() % bound; }

  void change(uint32_t target, int64_t at, uint8_t value) {
    older[{target, at}].insert(memory[target][static_cast<size_t>(at)]);
    memory[target][static_cast<size_t>(at)] = value;
  }

  void step() {
    const auto target = static_cast<uint32_t>(1 + below(ranks - 1));
    const auto at = static_cast<int64_t>(below(bytes / 8) * 8 % (below(4) == 0 ? bytes : hot));
    const auto value = static_cast<uint8_t>(++values);
    switch (below(below(writes_rarely) == 0 ? 12 : 4)) {
      case 0:
      case 1:
      case 2:
        return get(target, at);
      case 3:
        return below(6) == 0 ? acquire() : complete();
      case 4: {  // a put begins: announced first
        const uint32_t region = regions.of(at);
        if (open[{target, region}]++ == 0) words[target].remote[region] += VersionWords::open;
        puts.push_back({target, at, value, false});
        return;
      }
      case 5:  // one takes effect
        if (puts.empty()) return;
        return arrive(puts[below(puts.size())]);
      case 6:  // and the region is closed once all have
      case 7:
        if (puts.empty()) return;
        return close(below(puts.size()));
      case 8:
      case 9:  // the owner stores, and releases later
        stored.insert({target, regions.of(at)});
        return change(target, at, value);
      default:
        return release();
    }
  }

  void arrive(Put& put) {
    if (!put.arrived) change(put.target, put.at, put.value);
    put.arrived = true;
  }
  void close(size_t index) {
    const Put put = puts[index];
    arrive(puts[index]);
    puts.erase(puts.begin() + static_cast<std::ptrdiff_t>(index));
    const uint32_t region = regions.of(put.at);
    if (--open[{put.target, region}] == 0) words[put.target].remote[region] += VersionWords::close;
  }
  void release() {
    for (const auto& [target, region] : stored) words[target].own[region] += 2;
    stored.clear();
  }

  // From now on, everything that others have done and released is known; operations still in flight
  // are not.
  void acquire() {
    release();
    acquires.add(false);
    older.clear();
    for (Get& get : gets) {
      if (below(2) == 0) move(get);
    }
    certainly_open = below(2) == 0;  // otherwise the front end reads no words before gets
  }

  void get(uint32_t target, int64_t at) {
    ASSERT_TRUE(window.make_cache(window.growth_within(1 << 20)));
    const uint64_t size = 8 << below(4);
    if (at + static_cast<int64_t>(size) > bytes) return;
    Get& got = gets.emplace_back();
    got.buffer.resize(size);
    const RemoteGet get = plain_get(target, at, size, got.buffer.data());
    if (certainly_open && window.wants_validation(target)) window.validated(target, words[target]);
    const CachedWindow::Decision decision = window.look_up(get, false);
    got = {std::move(got.buffer), nullptr, target, at, at, size, size, false};
    if (decision.answer == CachedWindow::Answer::served) {
      check(got, decision.outcome == Outcome::full);
      if (decision.outcome == Outcome::full) gets.pop_back();
      return;
    }
    const CachedWindow::Line& line = decision.line;
    got.from = line.bytes > 0 ? line.from : at + static_cast<int64_t>(decision.head);
    got.bytes = line.bytes > 0 ? line.bytes : size - decision.from_cache();
    got.data = line.bytes > 0 ? line.buffer : got.buffer.data() + decision.head;
    if (decision.answer == CachedWindow::Answer::pass) {
      got.data = got.buffer.data();
      got.from = at, got.bytes = size;
      window.passed(size, Targets::one(target));
    } else {
      window.issued(get, decision);
    }
    if (below(2) == 0) move(got);
  }

  // The data are read at any time between issue and completion.
  void move(Get& get) {
    if (get.data != nullptr && !get.moved)
      std::memcpy(get.data, &memory[get.target][static_cast<size_t>(get.from)], get.bytes);
    get.moved = true;
  }
  void complete() {
    const CachedWindow::Completion completion = window.begin_sync(Targets::all(), false);
    for (Get& get : gets) {
      if (!get.moved) move(get);
    }
    window.end_sync(completion, true);
    gets.clear();
    certainly_open = true;
  }
  // Each byte must have its value at the last acquire, or one that it has had since.
  void check(const Get& get, bool complete) {
    if (!complete) return;
    for (uint64_t i = 0; i < get.size; ++i) {
      const auto value = static_cast<uint8_t>(get.buffer[i]);
      const auto at = get.at + static_cast<int64_t>(i);
      if (value == memory[get.target][static_cast<size_t>(at)]) continue;
      const auto since = older.find({get.target, at});
      ASSERT_TRUE(since != older.end() && since->second.contains(value))
          << "target " << get.target << ", byte " << at;
    }
  }

  std::mt19937_64 random;
  const uint64_t writes_rarely;  // one step in this many
  const int64_t hot;             // bytes at the beginning that most steps concern
  Regions regions{bytes};
  MemoryBudget budget;
  Acquires acquires;
  CachedWindow window;
  std::vector<uint8_t> memory[ranks];
  VersionWords words[ranks];
  std::vector<Put> puts;
  std::map<std::pair<uint32_t, uint32_t>, int> open;
  std::set<std::pair<uint32_t, uint32_t>> stored;
  // values that bytes had since the last acquire, before their current one
  std::map<std::pair<uint32_t, int64_t>, std::set<uint8_t>> older;
  std::vector<Get> gets;
  bool certainly_open = true;
  uint64_t values = 0;
};

TEST(VersionsRandom, ServeNothingOlderThanTheLastAcquire) {
  uint64_t kept = 0;
  for (uint32_t seed = 1; seed <= steps_of<uint32_t>(200) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(seed);
    world.run(3000);
    kept += world.kept();
  }
  EXPECT_GT(kept, steps_of<uint64_t>(1000));
}

}  // namespace TEST_FILE
}  // namespace nearcache
