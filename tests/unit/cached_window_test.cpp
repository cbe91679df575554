// The MPI-free half of a window, over a network that moves data only when a synchronisation makes
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "cache/get/cached_window.h"
#include "plain_get.h"

namespace nearcache {
namespace TEST_FILE {

constexpr uint32_t ranks = 4, own_rank = 0;
constexpr int64_t memory_bytes = 4096;
using Answer = CachedWindow::Answer;

// The memory of all ranks, a cached window over it, and the operations issued but not completed.
struct Program {
  explicit Program(Mode mode, CachedWindow::Data data = CachedWindow::Data::moved,
                   uint64_t storage = 1 << 16, int64_t unit = 1, int64_t least_bytes = memory_bytes,
                   int64_t bytes = memory_bytes)
      : window({own_rank, ranks, unit, least_bytes}, rules(mode, storage), &budget, &acquires,
               data) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      memory[rank].resize(static_cast<size_t>(bytes));
      for (size_t at = 0; at < memory[rank].size(); ++at)
        memory[rank][at] = static_cast<std::byte>(at * 7 + rank * 31);
    }
  }
  static CachingRules rules(Mode mode, uint64_t storage) {
    CachingRules rules{Options()};
    rules.mode = mode;
    rules.cache.storage_bytes = storage;
    rules.cache.index_capacity = 256;
    return rules;
  }

  CachedWindow::Decision look_up(const RemoteGet& get, bool request = false) {
    EXPECT_TRUE(window.make_cache(window.growth_within(1 << 20)));
    return window.look_up(get, request);
  }
  uint32_t issue(const RemoteGet& get, const CachedWindow::Decision& decision) {
    const uint64_t head = decision.answer == Answer::rest ? decision.head : 0;
    moves.push_back(
        {get.key.target, [=, this] {
           const CachedWindow::Line& line = decision.line;
           if (line.bytes > 0) {
             const std::vector<std::byte>& all = memory[get.key.target];
             ASSERT_LE(static_cast<size_t>(line.from) + line.bytes, all.size());
             std::memcpy(line.buffer, &all[static_cast<size_t>(line.from)], line.bytes);
             return;
           }
           std::memcpy(static_cast<std::byte*>(get.origin) + head,
                       &memory[get.key.target][static_cast<size_t>(get.key.displacement) + head],
                       get.bytes - (decision.answer == Answer::rest ? decision.from_cache() : 0));
         }});
    if (decision.answer != Answer::pass) {
      const uint32_t record = window.issued(get, decision).record;
      read_ahead(get, decision);
      return record;
    }
    window.passed(get.bytes, Targets::one(get.key.target));
    return no_record;
  }
  void read_ahead(const RemoteGet& get, const CachedWindow::Decision& decision) {
    for (uint32_t place = 1; place <= decision.ahead.places; ++place) {
      const CachedWindow::Decision ahead = window.look_ahead(get, decision, place);
      if (ahead.line.bytes == 0) continue;
      ++read_ahead_of;
      moves.push_back({get.key.target, [=, this] {
                         const std::vector<std::byte>& all = memory[get.key.target];
                         ASSERT_GE(ahead.line.from, 0);
                         ASSERT_LE(static_cast<size_t>(ahead.line.from) + ahead.line.bytes,
                                   all.size());
                         std::memcpy(ahead.line.buffer, &all[static_cast<size_t>(ahead.line.from)],
                                     ahead.line.bytes);
                       }});
      window.issued_ahead(get, ahead);
    }
  }
  CachedWindow::Decision get(const RemoteGet& get) {
    const CachedWindow::Decision decision = look_up(get);
    if (decision.answer != Answer::served) issue(get, decision);
    return decision;
  }
  void put(uint32_t target, int64_t at, std::vector<std::byte> data) {
    window.write_begins(target, at, at + static_cast<int64_t>(data.size()));
    moves.push_back({target, [=, this] {
                       std::memcpy(&memory[target][static_cast<size_t>(at)], data.data(),
                                   data.size());
                     }});
    window.write_issued(target);
  }
  void sync(Targets targets, bool succeeds = true) {
    const CachedWindow::Completion completion = window.begin_sync(targets, false);
    if (succeeds) move(targets);
    window.end_sync(completion, succeeds);
  }
  void move(Targets targets) {
    std::erase_if(moves, [&](const Move& each) {
      if (targets.cover(each.target)) each.now();
      return targets.cover(each.target);
    });
  }
  bool is_memory(const void* buffer, uint32_t target, int64_t at, uint64_t bytes) const {
    return std::memcmp(buffer, &memory[target][static_cast<size_t>(at)], bytes) == 0;
  }

  struct Move {
    uint32_t target;
    std::function<void()> now;
  };
  MemoryBudget budget;
  Acquires acquires;
  std::vector<std::byte> memory[ranks];
  std::deque<Move> moves;
  uint64_t read_ahead_of = 0;
  CachedWindow window;
};

using Buffer = std::array<std::byte, 256>;

TEST(CachedWindowTest, a_completed_get_is_served_again) {
  Program program(Mode::always);
  Buffer first{}, second{};
  EXPECT_EQ(program.get(plain_get(1, 64, 32, first.data())).answer, Answer::miss);
  program.sync(Targets::one(1));
  const CachedWindow::Decision repeat = program.get(plain_get(1, 64, 32, second.data()));
  EXPECT_EQ(repeat.answer, Answer::served);
  EXPECT_EQ(repeat.outcome, Outcome::full);
  EXPECT_TRUE(program.is_memory(second.data(), 1, 64, 32));
  EXPECT_EQ(program.window.counts().hits_full, 1u);
  EXPECT_EQ(program.window.counts().bytes_from_cache, 32u);
}

TEST(CachedWindowTest, a_repeat_of_a_get_under_way_is_filled_when_that_completes) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.get(plain_get(1, 0, 64, first.data()));
  const CachedWindow::Decision repeat = program.get(plain_get(1, 0, 40, second.data()));
  EXPECT_EQ(repeat.answer, Answer::served);
  EXPECT_EQ(repeat.outcome, Outcome::pending);
  EXPECT_EQ(second, Buffer{});
  program.sync(Targets::one(2));
  EXPECT_EQ(second, Buffer{});
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(second.data(), 1, 0, 40));
  EXPECT_EQ(second[40], std::byte{});
}

TEST(CachedWindowTest, a_longer_get_fetches_what_the_cache_lacks) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  program.get(plain_get(2, 100, 16, first.data()));
  program.sync(Targets::all());
  const CachedWindow::Decision longer = program.get(plain_get(2, 100, 50, second.data()));
  EXPECT_EQ(longer.answer, Answer::rest);
  EXPECT_EQ(longer.head, 16u);
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(second.data(), 2, 100, 50));
  EXPECT_EQ(program.get(plain_get(2, 100, 50, third.data())).answer, Answer::served);
  EXPECT_TRUE(program.is_memory(third.data(), 2, 100, 50));
}

TEST(CachedWindowTest, a_get_that_waits_for_a_tail_has_all_its_bytes_with_it) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  program.get(plain_get(2, 100, 16, first.data()));
  program.sync(Targets::all());
  program.get(plain_get(2, 100, 50, second.data()));
  const CachedWindow::Decision joined = program.get(plain_get(2, 100, 48, third.data()));
  EXPECT_EQ(joined.answer, Answer::served);
  EXPECT_EQ(joined.outcome, Outcome::pending);
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(third.data(), 2, 100, 48));
}

TEST(CachedWindowTest, a_failed_synchronisation_completes_nothing_and_the_next_does) {
  Program program(Mode::always);
  Buffer first{}, joined{}, later{};
  program.get(plain_get(1, 0, 64, first.data()));
  program.get(plain_get(1, 0, 64, joined.data()));
  program.sync(Targets::all(), false);
  EXPECT_EQ(joined, Buffer{});
  EXPECT_FALSE(program.window.nothing_to_complete());
  EXPECT_EQ(program.get(plain_get(1, 0, 64, later.data())).outcome, Outcome::pending);
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(joined.data(), 1, 0, 64));
  EXPECT_TRUE(program.is_memory(later.data(), 1, 0, 64));
}

TEST(CachedWindowTest, a_get_issued_while_a_synchronisation_is_under_way_is_not_completed_by_it) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  program.get(plain_get(1, 0, 64, first.data()));
  const CachedWindow::Completion completion = program.window.begin_sync(Targets::all(), false);
  program.get(plain_get(1, 128, 64, second.data()));
  program.window.end_sync(completion, true);
  EXPECT_EQ(program.get(plain_get(1, 128, 64, third.data())).outcome, Outcome::pending);
}

TEST(CachedWindowTest, what_overlaps_an_unfinished_own_write_is_not_kept) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.put(1, 10, std::vector<std::byte>(8, std::byte{1}));
  EXPECT_EQ(program.get(plain_get(1, 0, 64, first.data())).answer, Answer::miss);
  program.sync(Targets::all());
  EXPECT_EQ(program.get(plain_get(1, 0, 64, second.data())).answer, Answer::miss);
}

TEST(CachedWindowTest, an_own_write_that_another_thread_completes_before_the_get_is_issued) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.put(1, 10, std::vector<std::byte>(8, std::byte{1}));
  const RemoteGet get = plain_get(1, 0, 64, first.data());
  const CachedWindow::Decision decision = program.look_up(get);
  // MPI has answered the get by now, the other thread completes the put, and the get returns
  program.sync(Targets::one(1));
  EXPECT_EQ(program.issue(get, decision), no_record);
  EXPECT_EQ(program.get(plain_get(1, 0, 64, second.data())).answer, Answer::miss);
}

TEST(CachedWindowTest, an_own_write_ends_what_it_touches_and_nothing_else) {
  Program program(Mode::always);
  Buffer near{}, far{}, again{};
  program.get(plain_get(1, 0, 64, near.data()));
  program.get(plain_get(1, 128, 64, far.data()));
  program.sync(Targets::all());
  program.put(1, 63, {std::byte{1}});
  program.sync(Targets::all());
  EXPECT_EQ(program.get(plain_get(1, 0, 64, again.data())).answer, Answer::miss);
  EXPECT_EQ(program.get(plain_get(1, 128, 64, again.data())).answer, Answer::served);
}

TEST(CachedWindowTest, transparent_serves_repeats_under_way_only) {
  Program program(Mode::transparent);
  Buffer first{}, second{}, third{};
  program.get(plain_get(1, 0, 64, first.data()));
  EXPECT_EQ(program.get(plain_get(1, 0, 64, second.data())).outcome, Outcome::pending);
  program.sync(Targets::all());
  program.acquires.add(false);
  EXPECT_TRUE(program.is_memory(second.data(), 1, 0, 64));
  EXPECT_EQ(program.get(plain_get(1, 0, 64, third.data())).answer, Answer::miss);
}

TEST(CachedWindowTest, an_acquire_between_look_up_and_issue_keeps_the_get_from_being_joined) {
  Program program(Mode::transparent);
  Buffer first{}, second{};
  const RemoteGet get = plain_get(1, 0, 64, first.data());
  const CachedWindow::Decision decision = program.look_up(get);
  program.acquires.add(false);  // another thread's acquire
  EXPECT_EQ(program.issue(get, decision), no_record);
  EXPECT_EQ(program.get(plain_get(1, 0, 64, second.data())).answer, Answer::miss);
}

TEST(CachedWindowTest, two_threads_that_miss_the_same_key_make_one_entry) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  const RemoteGet one = plain_get(1, 0, 64, first.data()),
                  other = plain_get(1, 0, 64, second.data());
  const CachedWindow::Decision a = program.look_up(one), b = program.look_up(other);
  EXPECT_EQ(a.answer, Answer::miss);
  EXPECT_EQ(b.answer, Answer::miss);
  EXPECT_NE(program.issue(one, a), no_record);
  EXPECT_EQ(program.issue(other, b), no_record);
  program.sync(Targets::all());
  EXPECT_EQ(program.get(plain_get(1, 0, 64, third.data())).answer, Answer::served);
  EXPECT_EQ(program.window.cache()->entries(), 1u);
  EXPECT_EQ(program.window.cache()->check(), nullptr);
}

TEST(CachedWindowTest, invalidation_keeps_nothing_of_gets_under_way) {
  Program program(Mode::user);
  Buffer first{}, second{};
  program.get(plain_get(1, 0, 64, first.data()));
  program.window.invalidate();
  program.sync(Targets::all());
  EXPECT_EQ(program.get(plain_get(1, 0, 64, second.data())).answer, Answer::miss);
  EXPECT_EQ(program.window.counts().invalidations, 1u);
}

TEST(CachedWindowTest, a_change_of_mode_serves_who_waits_and_keeps_nothing) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  program.get(plain_get(1, 0, 64, first.data()));
  program.get(plain_get(1, 0, 64, second.data()));
  program.window.set_mode(Mode::user);
  EXPECT_EQ(program.budget.used(), 0u);
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(second.data(), 1, 0, 64));
  EXPECT_EQ(program.get(plain_get(1, 0, 64, third.data())).answer, Answer::miss);
}

TEST(CachedWindowTest, a_cache_leaves_its_memory_to_the_next_one) {
  Program program(Mode::always);
  Buffer read{};
  program.get(plain_get(1, 0, 64, read.data()));
  program.sync(Targets::all());
  const GetCache* const first = program.window.cache();
  program.window.set_mode(Mode::user);
  EXPECT_EQ(program.get(plain_get(1, 0, 64, read.data())).answer, Answer::miss);
  EXPECT_EQ(program.window.cache(), first);
  program.sync(Targets::all());
  EXPECT_EQ(program.get(plain_get(1, 0, 64, read.data())).answer, Answer::served);
  EXPECT_TRUE(program.is_memory(read.data(), 1, 0, 64));
}

TEST(CachedWindowTest, spare_memory_makes_way_for_what_the_limit_allows) {
  MemoryBudget budget;
  budget.set_limit(1000);
  Region region, found;
  const auto keep = [&](uint64_t held) {
    EXPECT_TRUE(region.reserve(1 << 16));
    budget.keep_spare(std::move(region), 7, held);
  };
  keep(600);
  EXPECT_FALSE(budget.take_spare(1 << 16, 8, &found));
  EXPECT_FALSE(budget.take_spare(1 << 17, 7, &found));
  EXPECT_TRUE(budget.take(400));
  EXPECT_TRUE(budget.take_spare(1 << 16, 7, &found));
  EXPECT_EQ(found.bytes(), size_t{1} << 16);
  EXPECT_FALSE(budget.take_spare(1 << 16, 7, &found));
  keep(600);
  EXPECT_TRUE(budget.take(1));
  EXPECT_FALSE(budget.take_spare(1 << 16, 7, &found));
  keep(600);  // more than is left
  EXPECT_FALSE(budget.take_spare(1 << 16, 7, &found));
}

// As of a window that begins with a cache without storage, and then gets one with storage.
TEST(CachedWindowTest, the_larger_spare_memory_is_kept) {
  MemoryBudget budget;
  Region small, large, found;
  EXPECT_TRUE(small.reserve(1 << 15) && large.reserve(1 << 16));
  budget.keep_spare(std::move(large), 1, 600);
  budget.keep_spare(std::move(small), 1, 100);
  EXPECT_FALSE(budget.take_spare(1 << 15, 1, &found));
  EXPECT_TRUE(budget.take_spare(1 << 16, 1, &found));
}

TEST(CachedWindowTest, requests_and_other_gets_do_not_wait_for_each_other) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  const RemoteGet rget = plain_get(1, 0, 64, first.data());
  const uint32_t record = program.issue(rget, program.look_up(rget, true));
  ASSERT_NE(record, no_record);
  program.window.belongs_to_request(record);
  const uint64_t serial = program.window.serial_of(record);
  EXPECT_EQ(program.look_up(plain_get(1, 0, 64, second.data())).answer, Answer::pass);
  program.move(Targets::one(1));
  EXPECT_TRUE(program.window.request_completed(record, serial, true));
  EXPECT_FALSE(program.window.request_completed(record, serial, true))
      << "the record is free, or another get's";
  first.fill(std::byte{});  // belongs to the program again
  EXPECT_EQ(program.get(plain_get(1, 0, 64, third.data())).outcome, Outcome::full);
  EXPECT_TRUE(program.is_memory(third.data(), 1, 0, 64));

  program.get(plain_get(2, 0, 64, second.data()));
  EXPECT_EQ(program.look_up(plain_get(2, 0, 64, third.data()), true).answer, Answer::pass);
}

TEST(CachedWindowTest, nothing_is_kept_of_a_failed_request) {
  Program program(Mode::always);
  Buffer first{}, second{};
  const RemoteGet rget = plain_get(1, 0, 64, first.data());
  const uint32_t record = program.issue(rget, program.look_up(rget, true));
  program.window.belongs_to_request(record);
  program.window.request_completed(record, program.window.serial_of(record), false);
  EXPECT_EQ(program.get(plain_get(1, 0, 64, second.data())).answer, Answer::miss);
}

TEST(CachedWindowTest, the_head_of_a_refused_tail_is_not_written) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.get(plain_get(1, 0, 32, first.data()));
  const CachedWindow::Decision longer = program.look_up(plain_get(1, 0, 64, second.data()));
  ASSERT_EQ(longer.answer, Answer::rest);
  program.window.rest_refused(longer);
  program.sync(Targets::all());
  EXPECT_EQ(second, Buffer{});
}

TEST(CachedWindowTest, a_part_of_a_cached_get_is_served) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.get(plain_get(1, 64, 128, first.data()));
  program.sync(Targets::all());
  const CachedWindow::Decision part = program.get(plain_get(1, 100, 60, second.data()));
  EXPECT_EQ(part.answer, Answer::served);
  EXPECT_EQ(part.outcome, Outcome::full);
  EXPECT_TRUE(program.is_memory(second.data(), 1, 100, 60));
  EXPECT_EQ(program.window.counts().hits_full, 1u);
}

TEST(CachedWindowTest, a_longer_cached_get_is_preferred_to_the_head_of_a_shorter_one) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{};
  program.get(plain_get(1, 64, 8, first.data()));
  program.get(plain_get(1, 32, 128, second.data()));
  program.sync(Targets::all());
  EXPECT_EQ(program.look_up(plain_get(1, 64, 64, third.data()), true).answer, Answer::served);
  EXPECT_TRUE(program.is_memory(third.data(), 1, 64, 64));
}

TEST(CachedWindowTest, a_part_of_a_get_under_way_is_filled_when_that_completes) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.get(plain_get(1, 0, 64, first.data()));
  const CachedWindow::Decision part = program.get(plain_get(1, 24, 40, second.data()));
  EXPECT_EQ(part.answer, Answer::served);
  EXPECT_EQ(part.outcome, Outcome::pending);
  program.sync(Targets::one(1));
  EXPECT_TRUE(program.is_memory(second.data(), 1, 24, 40));
  EXPECT_EQ(second[40], std::byte{});
}

TEST(CachedWindowTest, an_overlap_fetches_what_is_missing_at_either_end) {
  struct Case {
    int64_t at;
    uint64_t bytes, head, tail;
  };
  for (const Case& each : {Case{80, 50, 20, 0}, Case{30, 40, 0, 20}, Case{20, 100, 0, 0}}) {
    Program program(Mode::always);
    Buffer first{}, second{}, third{};
    program.get(plain_get(2, 50, 50, first.data()));
    program.sync(Targets::all());
    const CachedWindow::Decision over =
        program.get(plain_get(2, each.at, each.bytes, second.data()));
    EXPECT_EQ(over.answer, each.head + each.tail > 0 ? Answer::rest : Answer::miss)
        << "what lies in the middle is fetched again";
    EXPECT_EQ(over.head, each.head);
    EXPECT_EQ(over.tail, each.tail);
    program.sync(Targets::all());
    EXPECT_TRUE(program.is_memory(second.data(), 2, each.at, each.bytes));
    EXPECT_EQ(program.window.counts().bytes_from_network, 50 + each.bytes - each.head - each.tail);
    EXPECT_EQ(program.get(plain_get(2, each.at, each.bytes, third.data())).answer, Answer::served);
    EXPECT_TRUE(program.is_memory(third.data(), 2, each.at, each.bytes));
  }
}

TEST(CachedWindowTest, two_cached_gets_serve_what_they_hold_together) {
  Program program(Mode::always);
  Buffer first{}, second{}, third{}, fourth{};
  program.get(plain_get(2, 0, 50, first.data()));
  program.get(plain_get(2, 40, 50, second.data()));
  program.get(plain_get(2, 120, 50, second.data() + 60));
  program.sync(Targets::all());
  EXPECT_EQ(program.get(plain_get(2, 30, 50, third.data())).answer, Answer::served);
  EXPECT_TRUE(program.is_memory(third.data(), 2, 30, 50));
  const CachedWindow::Decision gap = program.get(plain_get(2, 60, 100, fourth.data()));
  EXPECT_EQ(gap.head, 30u);
  EXPECT_EQ(gap.tail, 40u);
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(fourth.data(), 2, 60, 100));
}

TEST(CachedWindowTest, an_rget_is_served_by_what_contains_it_and_by_nothing_less) {
  Program program(Mode::always);
  Buffer first{}, second{};
  program.get(plain_get(1, 0, 64, first.data()));
  EXPECT_EQ(program.look_up(plain_get(1, 8, 8, second.data()), true).answer, Answer::miss)
      << "the other is under way";
  program.sync(Targets::all());
  EXPECT_EQ(program.look_up(plain_get(1, 8, 8, second.data()), true).answer, Answer::served);
  EXPECT_EQ(program.look_up(plain_get(1, 32, 64, second.data()), true).answer, Answer::miss);
}

TEST(CachedWindowTest, what_is_fetched_of_an_overlap_begins_at_a_whole_displacement) {
  Program program(Mode::always, CachedWindow::Data::moved, 1 << 16, 8);
  Buffer first{}, second{};
  program.get(plain_get(1, 0, 20, first.data()));
  program.sync(Targets::all());
  const CachedWindow::Decision over = program.get(plain_get(1, 8, 32, second.data()));
  EXPECT_EQ(over.head, 8u);
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(second.data(), 1, 8, 32));
}

// MPI takes an int of bytes, and the tail begins before the end of what is cached.
TEST(CachedWindowTest, what_is_fetched_behind_a_head_is_no_more_than_an_int_counts) {
  Program program(Mode::always, CachedWindow::Data::simulated, 1 << 16, 48);
  const auto get = [&](uint64_t bytes) {
    RemoteGet one = plain_get(1, 0, bytes, nullptr);
    one.elements = {};
    const CachedWindow::Decision decision = program.look_up(one);
    program.window.issued(one, decision);
    program.window.end_sync(program.window.begin_sync(Targets::all(), false), true);
    return decision;
  };
  get(64);
  const CachedWindow::Decision most = get(uint64_t{INT_MAX} + 48);
  EXPECT_EQ(most.answer, Answer::rest);
  EXPECT_EQ(most.head, 48u);
  program.window.invalidate();
  get(64);
  EXPECT_EQ(get(uint64_t{INT_MAX} + 60).answer, Answer::miss);
}

// Reads element by element, with a flush after each. Returns how many gets went to the network.
uint64_t read_elements(Program& program, int64_t first, int64_t last, bool request = false) {
  uint64_t fetched = 0;
  for (int64_t at = first; at < last; at += 8) {
    std::array<std::byte, 10> to{};
    const RemoteGet get = plain_get(1, at, 8, &to[1]);
    const CachedWindow::Decision decision = program.look_up(get, request);
    if (decision.answer != Answer::served) {
      ++fetched;
      const uint32_t record = program.issue(get, decision);
      if (request) {
        program.move(Targets::one(1));
        program.window.belongs_to_request(record);
        EXPECT_TRUE(
            program.window.request_completed(record, program.window.serial_of(record), true));
      }
    }
    program.sync(Targets::one(1));
    EXPECT_TRUE(program.is_memory(&to[1], 1, at, 8)) << at;
    EXPECT_TRUE(to[0] == std::byte{} && to[9] == std::byte{}) << "beside what was asked for";
  }
  return fetched;
}

TEST(CachedWindowTest, neighbours_of_small_gets_come_with_lines) {
  for (const bool request : {false, true}) {
    Program program(Mode::always);
    read_elements(program, 0, 2560, request);  // learns
    EXPECT_LE(read_elements(program, 2560, 4096, request), 4u)
        << "192 elements in lines of 512 bytes";
    EXPECT_EQ(read_elements(program, 2560, 4096, request), 0u);
    EXPECT_EQ(program.window.cache()->check(), nullptr);
  }
}

TEST(CachedWindowTest, gets_that_wait_for_a_line_have_their_parts_of_it) {
  Program program(Mode::always);
  read_elements(program, 0, 1024);
  std::array<std::byte, 512> to{};
  uint64_t fetched = 0;
  for (int64_t at = 0; at < 512; at += 8)
    fetched += program.get(plain_get(1, 3072 + at, 8, &to[static_cast<size_t>(at)])).answer !=
               Answer::served;
  EXPECT_LE(fetched, 2u);
  EXPECT_EQ(to[8], std::byte{});
  program.sync(Targets::all());
  EXPECT_TRUE(program.is_memory(to.data(), 1, 3072, 512));
}

// The program may learn that a neighbour has been written while the line is in flight.
TEST(CachedWindowTest, nothing_comes_along_unless_this_rank_is_told_of_writes) {
  Program program(Mode::coherent);
  program.window.keep_across_acquires(Regions(memory_bytes));
  program.acquires.quiet = true;
  read_elements(program, 0, 1024);  // learns
  std::array<std::byte, 16> to{};
  EXPECT_GT(program.get(plain_get(1, 2048, 8, to.data())).line.bytes, 0u);
  program.sync(Targets::all());
  program.acquires.quiet = false;
  program.acquires.add(false);
  EXPECT_EQ(program.get(plain_get(1, 3072, 8, to.data())).line.bytes, 0u);
  program.memory[1][3080] = std::byte{99};
  program.get(plain_get(1, 3080, 8, &to[8]));
  program.sync(Targets::all());
  EXPECT_EQ(to[8], std::byte{99});
}

TEST(CachedWindowTest, neighbours_wait_for_a_line_that_the_storage_has_no_room_for) {
  for (const bool copies_pay : {true, false}) {
    Program program(Mode::always, CachedWindow::Data::moved, 48);
    ASSERT_TRUE(program.window.make_cache(program.window.growth_within(1 << 20)));
    if (!copies_pay) program.window.set_costs(1, 0);
    std::array<std::byte, 1024> to{};
    const auto read = [&](int64_t first) {
      uint64_t fetched = 0;
      for (int64_t at = 0; at < 1024; at += 8)
        fetched += program.get(plain_get(1, first + at, 8, &to[static_cast<size_t>(at)])).answer !=
                   Answer::served;
      program.sync(Targets::all());
      EXPECT_TRUE(program.is_memory(to.data(), 1, first, 1024));
      return fetched;
    };
    read(0);  // learns
    EXPECT_LE(read(2048), 16u) << "128 elements in lines of at least 64 bytes";
    EXPECT_EQ(program.window.cache()->check(), nullptr);
  }
}

TEST(CachedWindowTest, lines_end_where_they_are_given_up_before_their_neighbours_are_requested) {
  constexpr int64_t bytes = 1 << 16;
  Program program(Mode::always, CachedWindow::Data::moved, 48, 1, bytes, bytes);
  Buffer to{};
  uint64_t last = 0;
  for (int64_t i = 0; i < 8 * 128; ++i) {
    last = program.get(plain_get(1, i % 128 * 512 + i / 128 * 8, 8, to.data())).line.bytes;
    program.sync(Targets::one(1));
  }
  EXPECT_EQ(last, 0u);
}

// What fills the storage is used more often in the long run, but not next.
TEST(CachedWindowTest, a_line_whose_neighbours_are_read_next_is_kept_though_the_storage_is_full) {
  constexpr int64_t bytes = 1 << 16, first = 1 << 13;
  Program program(Mode::always, CachedWindow::Data::moved, 1 << 12, 1, bytes, bytes);
  for (int round = 0; round < 40; ++round) {
    for (int64_t at = 0; at < 4096; at += 256) {
      Buffer to{};
      program.get(plain_get(1, at, 256, to.data()));
      program.sync(Targets::one(1));
    }
  }
  uint64_t fetched = 0;
  for (int64_t i = 0; i < 400; ++i) {
    const int64_t line = first + i * 37 % 100 * 512;
    const uint64_t of_line = read_elements(program, line, line + 64);
    if (i >= 200) fetched += of_line;
  }
  EXPECT_LT(fetched, 300u) << "of 1600 elements, in bursts of eight";
  EXPECT_EQ(program.window.cache()->check(), nullptr);
}

TEST(CachedWindowTest, a_line_is_not_fetched_over_an_own_write_under_way) {
  Program program(Mode::always);
  read_elements(program, 0, 1024);
  Buffer first{}, second{};
  program.put(1, 3072 + 16, std::vector<std::byte>(8, std::byte{77}));
  const CachedWindow::Decision beside = program.get(plain_get(1, 3072, 8, first.data()));
  EXPECT_EQ(beside.answer, Answer::miss);
  EXPECT_EQ(beside.line.bytes, 0u);
  program.sync(Targets::all());
  EXPECT_GT(program.get(plain_get(1, 3072 + 8, 8, first.data())).line.bytes, 0u);
  program.put(1, 3072 + 24, std::vector<std::byte>(8, std::byte{78}));
  program.sync(Targets::all());
  program.get(plain_get(1, 3072 + 24, 8, second.data()));
  program.sync(Targets::all());
  EXPECT_EQ(second[0], std::byte{78}) << "written while the line was under way";
}

TEST(CachedWindowTest, a_line_ends_with_the_smallest_window_and_begins_at_a_whole_displacement) {
  Program program(Mode::always, CachedWindow::Data::moved, 1 << 16, 24, 4000);
  for (int64_t at = 0; at < 2640; at += 24) {
    Buffer to{};
    program.get(plain_get(1, at, 8, to.data()));
    program.sync(Targets::all());
  }
  Buffer to{};
  const CachedWindow::Decision decision = program.get(plain_get(1, 3600, 8, to.data()));
  EXPECT_GE(decision.line.from, 3584);
  EXPECT_EQ(decision.line.from % 24, 0);
  EXPECT_EQ(decision.line.from + static_cast<int64_t>(decision.line.bytes), 4000);
  EXPECT_EQ(program.look_up(plain_get(1, 3984 + 24, 8, to.data())).line.bytes, 0u)
      << "that window may have it, another has not";
}

TEST(CachedWindowTest, a_refused_line_leaves_nothing) {
  Program program(Mode::always);
  read_elements(program, 0, 1024);
  Buffer to{};
  const RemoteGet get = plain_get(1, 3072, 8, to.data());
  const CachedWindow::Decision refused = program.look_up(get), other = program.look_up(get);
  ASSERT_NE(refused.line.buffer, nullptr);
  EXPECT_NE(refused.line.buffer, other.line.buffer);
  program.window.rest_refused(other);
  program.window.rest_refused(refused);
  EXPECT_EQ(program.look_up(get).line.buffer, refused.line.buffer) << "the buffer is used again";
  program.sync(Targets::all());
  EXPECT_EQ(to, Buffer{});
}

// The data of an Rget whose wait failed are not kept. The failure may have been another request's,
// so the program still gets its data.
TEST(CachedWindowTest, a_line_of_a_failed_wait_is_delivered_and_not_kept) {
  Program program(Mode::always);
  read_elements(program, 0, 1024);
  Buffer to{};
  const RemoteGet get = plain_get(1, 3072, 8, to.data());
  const CachedWindow::Decision decision = program.look_up(get, true);
  ASSERT_GT(decision.line.bytes, 0u);
  const uint32_t record = program.issue(get, decision);
  program.window.belongs_to_request(record);
  program.move(Targets::all());
  program.window.request_completed(record, program.window.serial_of(record), false);
  EXPECT_TRUE(program.is_memory(to.data(), 1, 3072, 8));
  EXPECT_EQ(program.look_up(get).answer, Answer::miss);
}

TEST(CachedWindowTest, a_stream_comes_with_ever_longer_lines) {
  Program program(Mode::always);
  read_elements(program, 0, 512);  // learns
  EXPECT_LE(read_elements(program, 512, 4096), 3u) << "lines of 512, 1024, 2048 and more bytes";
  EXPECT_EQ(read_elements(program, 0, 4096), 0u);
  EXPECT_EQ(program.window.cache()->check(), nullptr);
}

// Reads at this stride. Returns the decisions for the elements that were not cached.
std::vector<CachedWindow::Decision> read_stride(Program& program, int64_t first, int64_t stride) {
  std::vector<CachedWindow::Decision> fetched;
  for (int64_t at = first; at >= 0 && at < memory_bytes; at += stride) {
    Buffer to{};
    const CachedWindow::Decision decision = program.get(plain_get(1, at, 8, to.data()));
    if (decision.answer != Answer::served) fetched.push_back(decision);
    program.sync(Targets::one(1));
    EXPECT_TRUE(program.is_memory(to.data(), 1, at, 8)) << at;
  }
  return fetched;
}

TEST(CachedWindowTest, places_of_a_stride_are_there_when_they_are_asked_for) {
  for (const int64_t stride : {520, -520}) {
    Program program(Mode::always);
    EXPECT_EQ(read_stride(program, stride > 0 ? 0 : 4080, stride).size(), 6u)
        << "four alone, one with the next, one with the last";
    EXPECT_EQ(program.read_ahead_of, 2u) << "none beyond the window";
    EXPECT_TRUE(read_stride(program, stride > 0 ? 0 : 4080, stride).empty());
    EXPECT_EQ(program.window.counts().gets, 16u) << "the program's";
    EXPECT_EQ(program.window.cache()->check(), nullptr);
  }
}

TEST(CachedWindowTest, a_get_joins_one_that_was_read_ahead) {
  Program program(Mode::always);
  for (const int64_t at : {0, 520, 1040, 1560}) {
    Buffer to{};
    program.get(plain_get(1, at, 8, to.data()));
    program.sync(Targets::one(1));
  }
  Buffer to{}, next{}, request{};
  program.get(plain_get(1, 2080, 8, to.data()));
  EXPECT_EQ(program.get(plain_get(1, 2600, 8, next.data())).outcome, Outcome::pending);
  EXPECT_EQ(program.look_up(plain_get(1, 2600, 8, request.data()), true).answer, Answer::pass)
      << "its wait would not complete the other one";
  program.sync(Targets::one(1), false);
  EXPECT_EQ(next, Buffer{});
  program.sync(Targets::one(1));
  EXPECT_TRUE(program.is_memory(next.data(), 1, 2600, 8));
}

TEST(CachedWindowTest, nothing_is_read_ahead_for_a_request_nor_over_an_own_write_under_way) {
  Program program(Mode::always);
  const auto get = [&](int64_t at, bool request) {
    Buffer to{};
    const CachedWindow::Decision decision =
        program.look_up(plain_get(1, at, 8, to.data()), request);
    program.issue(plain_get(1, at, 8, to.data()), decision);
    program.sync(Targets::one(1));
    return decision;
  };
  for (const int64_t at : {0, 520, 1040, 1560}) get(at, false);
  EXPECT_EQ(get(2080, true).ahead.places, 0u);
  Program other(Mode::always);
  for (const int64_t at : {0, 520, 1040, 1560}) {
    Buffer to{};
    other.get(plain_get(1, at, 8, to.data()));
    other.sync(Targets::one(1));
  }
  other.put(1, 2604, {std::byte{1}});
  Buffer to{};
  EXPECT_EQ(other.get(plain_get(1, 2080, 8, to.data())).ahead.places, 1u);
  EXPECT_EQ(other.read_ahead_of, 0u);
}

TEST(CachedWindowTest, small_gets_without_neighbours_fetch_no_lines) {
  Program program(Mode::always);
  for (int round = 0; round < 50; ++round) {
    for (int64_t at = 0; at < memory_bytes; at += 512) {
      Buffer to{};
      EXPECT_EQ(program.get(plain_get(1, at, 8, to.data())).line.bytes, 0u);
      program.sync(Targets::all());
      program.window.invalidate();
    }
  }
}

TEST(CachedWindowTest, own_memory_and_large_gets_are_never_cached) {
  Program program(Mode::always);
  EXPECT_TRUE(program.window.never_cached(plain_get(own_rank, 0, 8, nullptr)));
  EXPECT_FALSE(
      program.window.never_cached(plain_get(1, 0, program.window.rules().max_get, nullptr)));
  EXPECT_TRUE(
      program.window.never_cached(plain_get(1, 0, program.window.rules().max_get + 1, nullptr)));
}

TEST(CachedWindowTest, a_cache_takes_what_the_budget_has_or_is_not_made) {
  Program program(Mode::always, CachedWindow::Data::moved, 1 << 20);
  program.budget.set_limit(1 << 18);
  EXPECT_TRUE(program.window.make_cache(program.window.growth_within(1 << 18)));
  EXPECT_LE(program.budget.used(), uint64_t{1 << 18});
  EXPECT_GT(program.window.cache()->storage_bytes(), 0u);
  program.window.set_mode(Mode::off);
  EXPECT_EQ(program.budget.used(), 0u);
  program.window.set_mode(Mode::always);
  program.budget.set_limit(1000);
  EXPECT_FALSE(program.window.make_cache(program.window.growth_within(1 << 18)));
  EXPECT_EQ(program.budget.used(), 0u);
}

TEST(CachedWindowTest, a_simulation_decides_the_same_and_touches_no_data) {
  Program moved(Mode::always), simulated(Mode::always, CachedWindow::Data::simulated);
  Buffer buffer{};
  std::mt19937 random(1);
  for (int step = 0; step < 5000; ++step) {
    const auto target = static_cast<uint32_t>(1 + random() % 3);
    const auto at = static_cast<int64_t>(random() % 400 * 8);
    const uint64_t bytes = 1 + random() % 64;
    if (random() % 4 == 0) {
      moved.sync(Targets::one(target));
      simulated.window.end_sync(simulated.window.begin_sync(Targets::one(target), false), true);
    }
    const RemoteGet real = plain_get(target, at, bytes, buffer.data());
    RemoteGet none = plain_get(target, at, bytes, nullptr);
    none.elements = {};
    const CachedWindow::Decision a = moved.get(real), b = simulated.look_up(none);
    if (b.answer != Answer::served) simulated.window.issued(none, b);
    ASSERT_EQ(a.answer, b.answer) << step;
    ASSERT_EQ(a.head, b.head) << step;
  }
  EXPECT_EQ(moved.window.counts().hits_full, simulated.window.counts().hits_full);
  EXPECT_GT(simulated.window.counts().hits_partial, 0u);
  EXPECT_GT(simulated.window.counts().hits_pending, 0u);
}

// Random gets, own puts, others' writes (followed by an acquire or an invalidation), failing and
// partial synchronisation. The data of a get are checked when it is complete: they must be what the
// memory held at some time since the call.
class CachedWindowRandomTest : public testing::TestWithParam<std::tuple<Mode, int>> {};

TEST_P(CachedWindowRandomTest, every_get_brings_what_memory_held) {
  const auto [mode, seed] = GetParam();
  constexpr int64_t most = 1 << 14;
  Program program(mode, CachedWindow::Data::moved, 1 << 12, 1, most, most);
  std::mt19937 random(static_cast<unsigned>(seed));
  struct Asked {
    RemoteGet get;
    std::vector<std::byte> held;  // the memory's contents at the call
    bool defined;                 // no own write was outstanding there
  };
  std::deque<Asked> asked;
  std::deque<Buffer> buffers;
  struct Write {
    uint32_t target;
    int64_t from, to;
  };
  std::vector<Write> writes;
  const auto overlaps = [](const Write& write, const RemoteGet& get) {
    return write.target == get.key.target && write.from < get.to && get.from < write.to;
  };
  uint64_t compared = 0;
  int64_t walked = 0;  // at a stride
  for (int step = 0; step < 20000; ++step) {
    const bool walks = step % 64 < 24;
    const auto target = static_cast<uint32_t>(walks ? 1 : 1 + random() % 3);
    if (walks)
      walked = walked + 544 > most - 8 ? static_cast<int64_t>(random() % 40 * 24) : walked + 544;
    const auto at = walks ? walked : static_cast<int64_t>(random() % 40 * 24);
    const uint64_t bytes = walks ? 8 : 1 + random() % 120;
    const unsigned what = random() % 100;
    if (what < 70) {
      const RemoteGet get = plain_get(target, at, bytes, buffers.emplace_back().data());
      program.get(get);
      const std::byte* held = &program.memory[target][static_cast<size_t>(at)];
      const bool defined = std::none_of(writes.begin(), writes.end(),
                                        [&](const Write& write) { return overlaps(write, get); });
      asked.push_back({get, {held, held + bytes}, defined});
    } else if (what < 78) {
      const Write write{target, at, at + static_cast<int64_t>(bytes)};
      for (Asked& each : asked) each.defined = each.defined && !overlaps(write, each.get);
      writes.push_back(write);
      program.put(target, at, std::vector<std::byte>(bytes, static_cast<std::byte>(random())));
      // another rank writes where nobody reads meanwhile; then this rank learns of it
    } else if (what < 82) {
      program.sync(Targets::all());
      writes.clear();
      program.memory[target][static_cast<size_t>(at)] = static_cast<std::byte>(random());
      if (mode == Mode::transparent) {
        program.acquires.add(false);
      } else {
        program.window.invalidate();
      }
    } else if (what < 84) {
      program.sync(Targets::all(), false);
      continue;
    } else {
      const Targets targets = random() % 3 == 0 ? Targets::all() : Targets::one(target);
      program.sync(targets);
      std::erase_if(writes, [&](const Write& write) { return targets.cover(write.target); });
      if (mode == Mode::transparent) program.acquires.add(false);
      std::erase_if(asked, [&](const Asked& each) {
        if (!targets.cover(each.get.key.target)) return false;
        if (each.defined) {
          EXPECT_EQ(std::memcmp(each.get.origin, each.held.data(), each.get.bytes), 0)
              << "step " << step;
          ++compared;
        }
        return true;
      });
    }
    if (what >= 78 && what < 82) asked.clear();
    if (asked.empty()) buffers.clear();
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(compared, 5000u);
  EXPECT_TRUE(mode == Mode::transparent || program.read_ahead_of > 0) << program.read_ahead_of;
  if (program.window.cache() != nullptr) {
    EXPECT_EQ(program.window.cache()->check(), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(modes, CachedWindowRandomTest,
                         testing::Combine(testing::Values(Mode::transparent, Mode::always,
                                                          Mode::user),
                                          testing::Range(1, 5)));

}  // namespace TEST_FILE
}  // namespace nearcache
