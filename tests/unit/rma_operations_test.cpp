// The engine's operations, on a network that delays and reorders batches: results, layouts, errors.
#include "rma_job.h"

#include <sys/mman.h>

#include <algorithm>
#include <random>

#include "base/kernel_page.h"
#include "rma/engine.h"
#include "rma/execute_there.h"
#include "without_calls.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::by_layout;
using test::Job;
using test::Strided;

TEST(Rma, PutsGetsAndAccumulatesOfEverySizeAndDirection) {
  Job job(3, 1, 40000);
  std::mt19937_64 random(5);
  std::vector<uint64_t> data(35000), back(35000);
  for (uint64_t& each : data) each = random();
  for (const size_t words : {size_t{1}, size_t{7}, size_t{8192}, size_t{8193}, size_t{35000}}) {
    for (const int target : {0, 1}) {
      ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                                .target = target,
                                .displacement = 11,
                                .length = words * 8,
                                .data = Job::bytes(data[0])}));
      ASSERT_TRUE(job.issue(0, {.kind = Kind::accumulate,
                                .target = target,
                                .displacement = 11,
                                .length = words * 8,
                                .data = Job::bytes(data[0]),
                                .element = Element::uint64,
                                .operation = Operation::sum}));
      std::ranges::fill(back, 0);
      ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                                .target = target,
                                .displacement = 11,
                                .length = words * 8,
                                .result = reinterpret_cast<std::byte*>(back.data())}));
      ASSERT_TRUE(job.flush(0, target));
      for (size_t i = 0; i < words; ++i) ASSERT_EQ(back[i], 2 * data[i]);
      EXPECT_EQ(job.window(0).take_error(target), Status::ok);
    }
  }
}

TEST(Rma, PiecesOfMemoryAreWrittenReadAndAccumulatedInTheirOrder) {
  Job job(2, 2);
  const std::vector<Piece> pieces{{24, 8}, {0, 16}, {-8, 8}};
  const std::vector<uint64_t> data{1, 2, 3, 4};
  std::vector<uint64_t> back(4);
  ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                            .target = 1,
                            .displacement = 10,
                            .length = 32,
                            .pieces = pieces,
                            .data = Job::bytes(data[0])}));
  ASSERT_TRUE(job.issue(0, {.kind = Kind::fetch,
                            .target = 1,
                            .displacement = 10,
                            .length = 32,
                            .pieces = pieces,
                            .data = Job::bytes(data[0]),
                            .result = reinterpret_cast<std::byte*>(back.data()),
                            .element = Element::int64,
                            .operation = Operation::product}));
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(back, data);
  EXPECT_EQ(job.word(1, 13), 1u);
  EXPECT_EQ(job.word(1, 10), 4u);
  EXPECT_EQ(job.word(1, 11), 9u);
  EXPECT_EQ(job.word(1, 9), 16u);
}

TEST(Rma, ManyPiecesGoInSeveralMessages) {
  Job job(2, 3, 40000);
  std::vector<Piece> pieces;
  std::vector<uint64_t> data, back(15000);
  for (int64_t i = 0; i < 5000; ++i) {
    pieces.push_back({i * 64, 24});
    for (uint64_t k = 0; k < 3; ++k) data.push_back(static_cast<uint64_t>(i) * 3 + k);
  }
  ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                            .target = 1,
                            .displacement = 0,
                            .length = 120000,
                            .pieces = pieces,
                            .data = Job::bytes(data[0])}));
  ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .displacement = 0,
                            .length = 120000,
                            .pieces = pieces,
                            .result = reinterpret_cast<std::byte*>(back.data())}));
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(back, data);
  for (size_t i = 0; i < 40000; ++i) ASSERT_EQ(job.word(1, i), i % 8 < 3 ? i / 8 * 3 + i % 8 : 0);
}

TEST(Rma, ALayoutIsToldOnceAndThenGoesByItsNumber) {
  Job job(2, 20, 60000);
  const Strided type(7, 5000, 2, 3);
  std::vector<uint64_t> data(30000), back(30000);
  std::iota(data.begin(), data.end(), 1);
  const auto cost = [&](auto action) {
    const uint64_t before = job.network.bytes();
    action();
    EXPECT_TRUE(job.flush(0, 1));
    return job.network.bytes() - before;
  };
  const auto put = [&] { ASSERT_TRUE(job.issue(0, by_layout(Kind::put, type, 3, &data))); };
  const uint64_t first = cost(put), second = cost(put);
  EXPECT_GT(first, 3 * 80000u + 5000 * sizeof(Piece));
  EXPECT_LT(second, 3 * 80000u + 1000);
  for (size_t i = 0; i < 45000; ++i)
    ASSERT_EQ(job.word(1, i), i % 3 == 2 ? 0 : i / 3 * 2 + i % 3 + 1) << i;
  cost([&] { job.issue(0, by_layout(Kind::accumulate, type, 2, &data, Operation::sum)); });
  EXPECT_LT(cost([&] { job.issue(0, by_layout(Kind::get, type, 3, &back)); }), 3 * 80000u + 2000);
  for (size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(back[i], i < 20000 ? 2 * data[i] : data[i]) << i;
  // Data that are not entirely within the window are refused.
  data.resize(50000);
  job.issue(0, by_layout(Kind::put, type, 5, &data));
  EXPECT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range);
}

// A target keeps a bounded number of layouts: others are withdrawn, and what is too large is sent
// as runs.
TEST(Rma, LayoutsThatDoNotFitTakeThePlaceOfOthersOrGoAsRuns) {
  const int ranks = 1024;  // each may have 4,096 blocks at another
  Job job(ranks, 21, 30000);
  std::vector<uint64_t> data(20000, 5), back(20000);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t number = 1; number <= 4; ++number) {
      const Strided type(number, 1500 + number, 1, 2);
      std::iota(data.begin(), data.end(), number * 1000 + static_cast<uint64_t>(round));
      ASSERT_TRUE(job.issue(0, by_layout(Kind::put, type, 2, &data)));
      ASSERT_TRUE(job.issue(0, by_layout(Kind::get, type, 2, &back)));
      ASSERT_TRUE(job.flush(0, 1));
      ASSERT_TRUE(std::equal(back.begin(), back.begin() + 2 * static_cast<long>(1500 + number),
                             data.begin()));
    }
  }
  const Strided large(9, 9000, 1, 3);
  ASSERT_TRUE(job.issue(0, by_layout(Kind::put, large, 1, &data)));
  ASSERT_TRUE(job.flush(0, 1));
  for (size_t i = 0; i < 9000; ++i) ASSERT_EQ(job.word(1, 3 * i), data[i]);
  EXPECT_EQ(job.window(0).take_error(1), Status::ok);
}

// Or else each operation of a program that always makes new datatypes takes longer than the last.
TEST(Rma, LayoutsThatAreNotUsedAgainAreWithdrawn) {
  SentLayouts sent;
  std::vector<uint64_t> withdrawn;
  const auto use = [&](uint64_t number) {
    return sent.use({.number = number, .blocks = 8}, layout_share(2), &withdrawn);
  };
  SentLayouts::Sent* const first = use(1);
  for (uint64_t number = 2; number <= 10000; ++number) {
    SentLayouts::Sent* const next = use(number);
    ASSERT_NE(next, nullptr);
    --next->users;
  }
  EXPECT_EQ(withdrawn.size(), 10000 - SentLayouts::most);
  EXPECT_EQ(withdrawn.front(), 2u);
  EXPECT_EQ(use(1), first);  // whose user was there all the time
  // Nor if there are users of all of them.
  for (uint64_t number = 20001; number < 20000 + SentLayouts::most; ++number)
    EXPECT_NE(use(number), nullptr);
  EXPECT_EQ(use(30000), nullptr);
}

// The layout is sent and used behind a lock that another rank holds, and withdrawn before the lock
// is granted: waiting operations must keep the layout that they meant.
TEST(Rma, LayoutsKeepTheirMeaningBehindALock) {
  Job job(1024, 22, 30000);
  std::vector<uint64_t> data(6000);
  std::iota(data.begin(), data.end(), 1);
  job.window(1).lock(1, LockType::exclusive, false);
  const Mark mark = job.window(1).lock_now(1);
  ASSERT_TRUE(job.run([&] { return job.window(1).reached(1, mark); }));
  job.window(0).lock(1, LockType::shared, false);
  const Strided sparse(1, 3000, 1, 4), dense(2, 2000, 2, 3);
  ASSERT_TRUE(job.issue(0, by_layout(Kind::put, sparse, 1, &data)));
  ASSERT_TRUE(job.issue(0, by_layout(Kind::accumulate, dense, 1, &data, Operation::sum)));
  job.window(0).flush_local(1);
  while (job.step()) {
  }
  EXPECT_EQ(job.word(1, 0), 0u);
  ASSERT_TRUE(job.unlock(1, 1));
  ASSERT_TRUE(job.unlock(0, 1));
  for (size_t i = 0; i < 12000; ++i) {
    const uint64_t put = i % 4 == 0 ? i / 4 + 1 : 0,
                   added = i < 6000 && i % 3 < 2 ? i / 3 * 2 + i % 3 + 1 : 0;
    ASSERT_EQ(job.word(1, i), put + added) << i;
  }
}

TEST(Rma, CompareAndSwapOfEveryWidth) {
  Job job(2, 4);
  for (const size_t width : {1u, 2u, 4u, 8u, 16u}) {
    std::byte both[32], old[16];
    for (const bool matches : {false, true}) {
      auto* at = reinterpret_cast<std::byte*>(&job.word(1, 4));
      std::memset(at, 7, 16);
      std::memset(both, 9, width);
      std::memset(both + width, matches ? 7 : 8, width);
      ASSERT_TRUE(job.issue(0, {.kind = Kind::compare_and_swap,
                                .target = 1,
                                .displacement = 4,
                                .length = width,
                                .data = both,
                                .result = old}));
      ASSERT_TRUE(job.flush(0, 1));
      EXPECT_EQ(old[width - 1], std::byte{7});
      for (size_t i = 0; i < 16; ++i)
        EXPECT_EQ(at[i], matches && i < width ? std::byte{9} : std::byte{7});
    }
  }
}

TEST(Rma, PutsOfFewBytesTakeNoHeadEach) {
  BatchWriter batch;
  const auto put = [&](uint64_t window, bool odd, int64_t at, uint64_t length) {
    std::memset(batch.append_few(window, odd, at, length), static_cast<int>(at), length);
  };
  put(1, false, 1, 8), put(1, false, 2, 8), put(1, false, 3, 8);
  EXPECT_EQ(batch.bytes().size(), sizeof(Head) + size_t{3 * 16});
  put(1, false, 4, 5), put(1, false, 5, 5);                // another length
  put(2, false, 6, 5), put(2, true, 7, 5);                 // another window, another epoch
  batch.append({.kind = Kind::acknowledge, .window = 2});  // something between
  put(2, true, 8, 5);
  std::vector<uint64_t> counts;
  int64_t next = 1;
  BatchReader reader(batch.bytes());
  for (Message message; reader.next(&message);) {
    if (message.head.kind != Kind::puts) continue;
    counts.push_back(message.head.offset);
    for (auto data = message.data; !data.empty();
         data = data.subspan(bytes_of_few(message.head.length)), ++next) {
      int64_t at;
      std::memcpy(&at, data.data(), sizeof at);
      EXPECT_EQ(at, next);
      EXPECT_EQ(data[8 + message.head.length - 1], static_cast<std::byte>(next));
    }
  }
  EXPECT_FALSE(reader.malformed());
  EXPECT_EQ(counts, (std::vector<uint64_t>{3, 2, 1, 1, 1}));
  batch.clear();  // what was there is not added to
  put(2, true, 9, 5);
  EXPECT_EQ(batch.bytes().size(), sizeof(Head) + 16);
}

TEST(Rma, PutsOfFewBytesOfEveryLengthArriveInOrder) {
  for (const int on_node : {1, 2}) {
    Job job(2, 4, 64, on_node);
    std::vector<uint64_t> expected(64);
    uint64_t value[16];
    bool few = false;
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t length = i / 7 % 72, at = i % 50;
      std::ranges::fill(value, i * 0x0101010101010101);
      const bool taken = job.window(0).put_few(1, static_cast<int64_t>(at), value, length);
      EXPECT_FALSE(taken && (length == 0 || length > most_of_few || on_node == 2)) << length;
      few = few || taken;
      if (!taken) {
        ASSERT_TRUE(job.issue(0, {.kind = Kind::put,
                                  .target = 1,
                                  .displacement = static_cast<int64_t>(at),
                                  .length = length,
                                  .data = Job::bytes(value[0])}));
      }
      std::memcpy(&expected[at], value, length);
      if (i % 100 == 0) job.step();
    }
    EXPECT_EQ(few, on_node == 1);
    ASSERT_TRUE(job.flush(0, 1));
    EXPECT_TRUE(std::ranges::equal(job.memory[1], expected));
    EXPECT_EQ(job.window(0).take_error(1), Status::ok);
  }
}

TEST(Rma, PutsOfFewBytesWaitForTheLockAndForRoom) {
  Job job(3, 4);
  const uint64_t value = 5;
  EXPECT_FALSE(job.window(0).put_few(1, 0, &value, 8));  // nothing went there yet
  job.window(0).lock(1, LockType::exclusive, false);
  EXPECT_FALSE(job.window(0).put_few(1, 0, &value, 8));  // the lock must go first
  ASSERT_TRUE(job.put(0, 1, 0, value));
  EXPECT_TRUE(job.window(0).put_few(1, 1, &value, 8));
  ASSERT_TRUE(job.flush(0, 1));
  job.window(2).lock(1, LockType::exclusive, false);
  ASSERT_TRUE(job.put(2, 1, 2, value));
  uint64_t puts = 0;  // behind a lock that is not free, until the room is used up
  while (job.window(2).put_few(1, 3, &value, 8)) ASSERT_LT(++puts, uint64_t{1} << 20);
  EXPECT_TRUE(job.window(2).crowded(1));
  while (job.step()) continue;
  EXPECT_EQ(job.word(1, 3), 0u);
  ASSERT_TRUE(job.unlock(0, 1));
  ASSERT_TRUE(job.unlock(2, 1));
  EXPECT_EQ(job.word(1, 3), value);
}

// No rank requests one of nothing, but a broken one may (fuzz_rma).
TEST(Rma, CompareAndSwapOfMoreThanAnElementIsRefused) {
  Job job(2, 1);
  std::byte both[64]{}, old[32];
  job.issue(
      0, {.kind = Kind::compare_and_swap, .target = 1, .length = 17, .data = both, .result = old});
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(job.window(0).take_error(1), Status::bad_operation);
}

TEST(Rma, EveryRankAddsAtomically) {
  for (const int ranks : {2, 7, 64}) {
    Job job(ranks, static_cast<uint64_t>(ranks));
    std::vector<std::vector<uint64_t>> seen(static_cast<size_t>(ranks), std::vector<uint64_t>(20));
    for (size_t i = 0; i < 20; ++i) {
      for (int rank = 0; rank < ranks; ++rank) {
        job.fetch_add(rank, 0, 3, 1, &seen[static_cast<size_t>(rank)][i]);
        job.window(rank).flush(0);
        job.step();
      }
    }
    for (int rank = 0; rank < ranks; ++rank) ASSERT_TRUE(job.flush(rank, 0));
    std::vector<uint64_t> all;
    for (const auto& each : seen) all.insert(all.end(), each.begin(), each.end());
    std::ranges::sort(all);
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  }
}

TEST(Rma, WhatIsOutsideOfTheWindowIsAnErrorOfTheNextFlushAndTouchesNothing) {
  Job job(2, 11);
  uint64_t value = 5, old = 77;
  const auto expect_range_error = [&] {
    ASSERT_TRUE(job.flush(0, 1));
    EXPECT_EQ(job.window(0).take_error(1), Status::out_of_range);
    EXPECT_EQ(job.window(0).take_error(1), Status::ok);
    EXPECT_TRUE(std::ranges::all_of(job.memory[1], [](uint64_t word) { return word == 0; }));
  };
  for (const int64_t at : {int64_t{64}, int64_t{-1}, INT64_MAX, INT64_MIN, INT64_MAX / 8 + 1}) {
    job.put(0, 1, at, value);
    expect_range_error();
    job.get(0, 1, at, &old);
    expect_range_error();
    EXPECT_EQ(old, 77u);
    job.fetch_add(0, 1, at, value, &old);
    expect_range_error();
  }
  const std::vector<Piece> last_is_outside{{0, 8}, {8, 8}, {63 * 8 + 1, 8}};
  const uint64_t data[3] = {1, 2, 3};
  job.issue(0, {.kind = Kind::put,
                .target = 1,
                .displacement = 0,
                .length = 24,
                .pieces = last_is_outside,
                .data = Job::bytes(data)});
  expect_range_error();
}

TEST(Rma, DynamicMemoryIsReachedByAddressWhileAttached) {
  net::StubNetwork network(2, 1);
  Engine origin(&network.fabric(0)), owner(&network.fabric(1));
  Window* window = origin.open(7, Members(2), Memory::dynamic());
  Memory& memory = owner.open(7, Members(2), Memory::dynamic())->exposure().memory();
  std::vector<uint64_t> words(20);
  const auto address = [&](size_t index) { return reinterpret_cast<int64_t>(&words[index]); };
  const auto put = [&](size_t index, uint64_t value, uint64_t length = 8) {
    Transfer transfer{.kind = Kind::put,
                      .target = 1,
                      .displacement = address(index),
                      .length = length,
                      .data = Job::bytes(value)};
    window->issue(&transfer);
    const Mark mark = window->flush(1);
    while (!window->reached(1, mark)) owner.poll(), origin.poll();
    return window->take_error(1);
  };
  EXPECT_EQ(put(0, 1), Status::out_of_range);
  EXPECT_TRUE(memory.attach(&words[2], 16));
  EXPECT_FALSE(memory.attach(&words[3], 8));
  EXPECT_FALSE(memory.attach(&words[1], 16));
  EXPECT_TRUE(memory.attach(&words[4], 8));
  EXPECT_EQ(put(3, 5), Status::ok);
  EXPECT_EQ(words[3], 5u);
  EXPECT_EQ(put(1, 5), Status::out_of_range);
  EXPECT_EQ(put(5, 5), Status::out_of_range);
  EXPECT_TRUE(memory.detach(&words[2]));
  EXPECT_FALSE(memory.detach(&words[2]));
  EXPECT_EQ(put(3, 6), Status::out_of_range);
  EXPECT_EQ(put(4, 6), Status::ok);
}

// Elements of 12 bytes that are replaced as a whole, like pairs: no message ends within one.
TEST(Rma, NoMessageOfAnAccumulateEndsWithinAnElement) {
  constexpr uint64_t elements = 20000;
  const std::vector<std::byte> data(elements * 12, std::byte{1});
  for (const std::vector<Piece>& blocks :
       {std::vector<Piece>{}, {{0, 8}, {8, 4}}, {{0, 2}, {4, 4}, {10, 6}}}) {
    for (const bool by_layout : {false, true}) {
      Job job(2, 28, elements * 4);
      Transfer transfer{.kind = Kind::accumulate,
                        .target = 1,
                        .length = data.size(),
                        .data = data.data(),
                        .grain = 12};
      std::vector<Piece> pieces;
      for (uint64_t i = 0; i < elements; ++i) {
        for (const Piece& each : blocks)
          pieces.push_back({each.offset + static_cast<int64_t>(i * 32), each.length});
      }
      if (!by_layout) {
        transfer.pieces = pieces;
      } else if (!blocks.empty()) {
        transfer.layout = {1, 12, 32, blocks.size(), &blocks, [](const void* of, uint64_t which) {
                             return (*static_cast<const std::vector<Piece>*>(of))[which];
                           }};
      }
      ASSERT_TRUE(job.issue(0, transfer));
      const Mark mark = job.window(0).flush(1);
      const auto* memory = reinterpret_cast<const std::byte*>(&job.word(1, 0));
      int steps = 0;
      ASSERT_TRUE(job.run([&] {
        const auto written = std::count(memory, memory + elements * 32, std::byte{1});
        EXPECT_EQ(written % 12, 0) << blocks.size() << by_layout;
        ++steps;
        return job.window(0).reached(1, mark);
      }));
      EXPECT_EQ(std::count(memory, memory + elements * 32, std::byte{1}),
                static_cast<int64_t>(data.size()));
      EXPECT_GT(steps, 3);
    }
  }
}

// Another process's memory, in which some rank changes what lies between the parts of pairs while
// one is being computed.
struct MeddledMemory {
  std::span<std::byte> memory;
  std::byte* gap;
  static constexpr uint64_t most_bytes = UINT64_MAX;

  net::Reached read(std::byte* to, std::span<iovec> from, uint64_t bytes) const {
    const std::byte* const end = to + bytes;
    for (const iovec& run : from) {
      const auto* at = static_cast<const std::byte*>(run.iov_base);
      if (at + run.iov_len > memory.data() + memory.size()) return net::Reached::unmapped;
      std::memcpy(to, at, run.iov_len);
      to += run.iov_len;
    }
    EXPECT_EQ(to, end);
    *gap = std::byte{77};
    return net::Reached::all;
  }
  net::Reached write(const std::byte* from, std::span<iovec> to, uint64_t bytes) const {
    const std::byte* const end = from + bytes;
    for (const iovec& run : to) {
      std::memcpy(run.iov_base, from, run.iov_len);
      from += run.iov_len;
    }
    EXPECT_EQ(from, end);
    return net::Reached::all;
  }
};

// The most runs that the kernel takes at a time may end within an element.
TEST(Rma, OthersAreKeptOutUntilAnElementIsWhole) {
  std::vector<std::byte> there(7 * 1000), ours(7 * 999, std::byte{1});
  std::byte gap;
  Mutex mutex{};
  bool intact = true;
  const Action action{Kind::accumulate, Element::bytes, Operation::replace,
                      ours.data(),      nullptr,        21};
  int free = 0;
  const net::Reached reached = execute_there(action, MeddledMemory{there, &gap}, ours.size(),
                                             &mutex, 1, &intact, [&](auto function) {
                                               for (size_t run = 0; run < 999; ++run) {
                                                 if (run > 0 && run % most_runs == 0) {
                                                   const bool is_free = mutex.try_lock(2);
                                                   EXPECT_EQ(is_free, run % 3 == 0) << run;
                                                   if (is_free) ++free, mutex.unlock();
                                                 }
                                                 function(&there[7 * run], 7);
                                               }
                                             });
  EXPECT_EQ(reached, net::Reached::all);
  EXPECT_GT(free, 0);
  EXPECT_TRUE(mutex.try_lock(2));
  EXPECT_TRUE(std::equal(ours.begin(), ours.end(), there.begin()));
}

TEST(Rma, WhatLiesBetweenTheMembersOfPairsIsNotWritten) {
  struct Pair {
    double value;
    int index, gap;
  };
  constexpr size_t pairs = 700;
  std::vector<Pair> there(pairs, Pair{5, 1, 0}), ours(pairs, Pair{3, 2, 8});
  const std::span memory(reinterpret_cast<std::byte*>(there.data()), pairs * sizeof(Pair) - 4);
  Mutex mutex{};
  bool intact = true;
  const Action action{Kind::accumulate, Element::pair_double, Operation::minloc,
                      reinterpret_cast<const std::byte*>(ours.data()), nullptr};
  auto* const gap = reinterpret_cast<std::byte*>(&there[pairs / 2].gap);
  const net::Reached reached =
      execute_there(action, MeddledMemory{memory, gap}, pairs * sizeof(Pair), &mutex, 1, &intact,
                    [&](auto function) { function(memory.data(), pairs * sizeof(Pair)); });
  EXPECT_EQ(reached, net::Reached::all);
  for (size_t i = 0; i < pairs; ++i) {
    EXPECT_EQ(there[i].value, 3) << i;
    EXPECT_EQ(there[i].index, 2) << i;
    EXPECT_EQ(there[i].gap, i == pairs / 2 ? 77 : 0) << i;
  }
}

// No rank that follows the protocol replaces pairs as such. One that does would write the gap
// behind the last one, too.
TEST(Rma, PairsThatEndBeyondTheWindowAreNotReplaced) {
  for (const Kind kind : {Kind::accumulate, Kind::fetch}) {
    Job job(2, 22);
    std::vector<std::byte> memory(64 * 8 + 4, std::byte{7});
    job.engines[1]->open(99, Members(2), Memory::fixed(memory.data(), 64 * 8 - 4, 1));
    Window* const origin = job.engines[0]->open(99, Members(2), Memory::fixed(nullptr, 0, 1));
    std::vector<std::byte> data(64 * 8), old(64 * 8);
    for (const Operation operation : {Operation::replace, Operation::no_op}) {
      Transfer transfer{.kind = kind,
                        .target = 1,
                        .length = data.size(),
                        .data = data.data(),
                        .result = old.data(),
                        .element = Element::pair_double,
                        .operation = operation};
      ASSERT_TRUE(origin->issue(&transfer));
      const Mark mark = origin->flush(1);
      ASSERT_TRUE(job.run([&] { return origin->reached(1, mark); }));
      EXPECT_EQ(origin->take_error(1), Status::out_of_range);
      EXPECT_EQ(memory, std::vector(memory.size(), std::byte{7}));
    }
  }
}

// The window ends with the index of its last pair, and no memory follows.
TEST(Rma, NothingBehindTheLastPairOfAWindowIsRead) {
  struct Pair {
    double value;
    int index, gap;
  };
  constexpr size_t bytes = sizeof(Pair) - sizeof(int);
  const size_t page = kernel_page();
  void* const pages = mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages, page, PROT_READ | PROT_WRITE), 0);
  Job job(2, 23);
  job.engines[1]->open(99, Members(2), Memory::fixed(pages, page, 1));
  Window* const origin = job.engines[0]->open(99, Members(2), Memory::fixed(nullptr, 0, 1));
  Pair ours{3, 4, 5}, old{};
  Transfer transfer{.kind = Kind::fetch,
                    .target = 1,
                    .displacement = static_cast<int64_t>(page - bytes),
                    .length = sizeof(Pair),
                    .data = Job::bytes(ours),
                    .result = reinterpret_cast<std::byte*>(&old),
                    .element = Element::pair_double,
                    .operation = Operation::maxloc};
  for (const Kind kind : {Kind::accumulate, Kind::fetch}) {
    transfer.kind = kind;
    transfer.done = 0;
    ASSERT_TRUE(origin->issue(&transfer));
    const Mark mark = origin->flush(1);
    ASSERT_TRUE(job.run([&] { return origin->reached(1, mark); }));
    EXPECT_EQ(origin->take_error(1), Status::ok);
  }
  EXPECT_EQ(old.value, 3);
  EXPECT_EQ(old.index, 4);
  munmap(pages, 2 * page);
}

TEST(Rma, CompletionsAreCalledWhenTheirResultIsThere) {
  Job job(2, 13, 20000);
  std::ranges::fill(job.memory[1], 3);
  std::vector<uint64_t> back(20000);
  int calls = 0;
  const Completion completion{[](void* context, Status status) {
                                *static_cast<int*>(context) += status == Status::ok ? 1 : 100;
                              },
                              &calls};
  ASSERT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .displacement = 0,
                            .length = 160000,
                            .result = reinterpret_cast<std::byte*>(back.data()),
                            .completion = completion}));
  EXPECT_EQ(calls, 0);
  const Mark mark = job.window(0).flush_local(1);
  ASSERT_TRUE(job.run([&] { return calls != 0; }));
  EXPECT_TRUE(job.window(0).reached(1, mark));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(std::ranges::all_of(back, [](uint64_t word) { return word == 3; }));
  job.issue(
      0,
      {.kind = Kind::get, .target = 1, .displacement = 0, .length = 0, .completion = completion});
  EXPECT_EQ(calls, 2);
  job.issue(0, {.kind = Kind::get,
                .target = 1,
                .displacement = 19999,
                .length = 16,
                .result = reinterpret_cast<std::byte*>(back.data()),
                .completion = completion});
  ASSERT_TRUE(job.flush(0, 1));
  EXPECT_EQ(calls, 102);
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
