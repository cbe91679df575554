// In which modes gets would have been served stale data: small traces of two ranks, made with the
// writer.
#include "simulate/safety.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "sanitized.h"
#include "simulate/written_pages.h"
#include "telemetry/trace_writer.h"
#include "trace_bytes.h"

namespace nearcache::simulate {
namespace TEST_FILE {

constexpr uint64_t window = 1;

// Rank 0 reads from rank 1, which writes; both mark the time before and after each step, as
// barriers make them do.
class SafetyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "nearcache-safety-XXXXXX";
    folder = mkdtemp(name.data());
    for (uint32_t rank = 0; rank < 2; ++rank) {
      ASSERT_EQ(ranks[rank].open(path(rank), {rank, 2, "node", "program", "MPI", ""}), "");
      TracedWindow traced;
      traced.id = window;
      traced.rank = rank;
      traced.ranks = 2;
      traced.own_bytes = 1 << 20;
      ranks[rank].window_created(traced);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(uint32_t rank) const {
    return folder + "/t." + std::to_string(rank) + ".nctrace";
  }
  void read(int64_t displacement) { ranks[0].get(window, Outcome::uncached, 1, displacement, 64); }
  void barrier() {
    for (TraceWriter& rank : ranks) rank.mark();
    usleep(200);
    for (TraceWriter& rank : ranks) rank.mark();
    for (TraceWriter& rank : ranks) rank.acquire();
    usleep(200);
  }
  // Rank 1 stores to a page of its own, and looks for stores.
  void store(uint64_t page) {
    usleep(200);
    ranks[1].owner_write(window, page * 4096, 4096, 100000);
  }
  WindowSafety result() {
    for (TraceWriter& rank : ranks) EXPECT_EQ(rank.close(), "");
    StudyOptions options;
    options.traces = {path(0), path(1)};
    Safety safety;
    EXPECT_EQ(run_safety(options, &safety), "");
    EXPECT_EQ(safety.windows.size(), 1u);
    return safety.windows.at(0);
  }

  std::string folder;
  TraceWriter ranks[2];
};

TEST_F(SafetyTest, what_is_written_before_the_first_get_makes_nothing_stale) {
  store(0);
  barrier();
  read(0), read(0), read(64);
  barrier();
  const WindowSafety safety = result();
  EXPECT_EQ(safety.stores, 1u);
  EXPECT_EQ(safety.writes_while_read, 0u);
  EXPECT_EQ(safety.always.hits, 1u);
  EXPECT_EQ(safety.always.stale, 0u);
}

TEST_F(SafetyTest, a_store_between_two_gets_of_the_same_makes_the_second_stale) {
  read(0), read(8192);
  barrier();
  store(0);
  barrier();
  read(0), read(8192);
  const WindowSafety safety = result();
  EXPECT_EQ(safety.always.hits, 2u);
  EXPECT_EQ(safety.always.stale, 1u) << "the other page was not written";
  ASSERT_TRUE(safety.always.example);
  EXPECT_EQ(safety.always.example->displacement, 0);
  EXPECT_TRUE(safety.always.example->stored_by_owner);
  // An invalidation after the barrier makes it safe.
  EXPECT_EQ(safety.user.stale, 0u);
  EXPECT_EQ(safety.user.hits, 0u);
  EXPECT_EQ(safety.user.invalidations, 1u);
}

TEST_F(SafetyTest, barriers_without_writes_need_no_invalidation) {
  for (int i = 0; i < 5; ++i) {
    read(0);
    barrier();
  }
  const WindowSafety safety = result();
  EXPECT_EQ(safety.user.invalidations, 0u);
  EXPECT_EQ(safety.user.hits, 4u);
}

TEST_F(SafetyTest, a_store_amid_reads_is_stale_under_every_promise) {
  read(0);
  barrier();
  read(0);
  store(0);
  read(0);
  ranks[0].mark();
  const WindowSafety safety = result();
  EXPECT_GE(safety.always.stale, 1u);
  EXPECT_GE(safety.user.stale, 1u);
}

TEST_F(SafetyTest, own_puts_make_nothing_stale_for_the_rank_that_puts) {
  read(0);
  barrier();
  ranks[0].write(window, TraceWrite::put, 1, 0, 64);
  ranks[0].sync(window, TraceSync::flush, 1);
  barrier();
  read(0);
  const WindowSafety safety = result();
  EXPECT_EQ(safety.puts, 1u);
  EXPECT_EQ(safety.always.stale, 0u);
}

TEST_F(SafetyTest, a_put_that_is_never_completed_may_arrive_at_any_time) {
  barrier();
  ranks[1].write(window, TraceWrite::put, 1, 0, 64);  // into its own memory, by a put
  barrier();
  read(0);
  barrier();
  read(0);
  EXPECT_EQ(result().always.stale, 1u);
}

TEST_F(SafetyTest, repeats_before_a_flush_are_hits_of_mode_transparent) {
  read(0), read(0);
  ranks[0].sync(window, TraceSync::flush, 1);
  read(0);
  const WindowSafety safety = result();
  EXPECT_EQ(safety.transparent.hits, 1u);
  EXPECT_EQ(safety.always.hits, 2u);
}

TEST(WrittenPages, writes_are_found_by_place_time_and_writer) {
  WrittenPages pages;
  pages.add({2, 5, 4096, 4100, 100, 200, false});
  EXPECT_EQ(pages.between(2, 0, 4096, 0, 0, 1000), nullptr) << "another page";
  EXPECT_EQ(pages.between(1, 4096, 4100, 0, 0, 1000), nullptr) << "another target";
  EXPECT_EQ(pages.between(2, 4096, 4100, 5, 0, 1000), nullptr) << "the reader's own write";
  EXPECT_EQ(pages.between(2, 4096, 4100, 0, 201, 1000), nullptr) << "before";
  EXPECT_EQ(pages.between(2, 4096, 4100, 0, 0, 99), nullptr) << "after";
  EXPECT_NE(pages.between(2, 8000, 8100, 0, 150, 160), nullptr) << "on the same page";
}

TEST(WrittenPages, very_many_writes_of_a_page_become_fewer_and_lose_none) {
  WrittenPages pages;
  for (uint64_t i = 0; i < 1000; ++i) pages.add({0, 1, 0, 8, 10 * i, 10 * i + 1, false});
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_NE(pages.between(0, 0, 8, 0, 10 * i, 10 * i), nullptr);
}

TEST(WrittenPages, a_write_of_unknown_place_is_a_write_everywhere) {
  WrittenPages pages;
  pages.add({3, 1, INT64_MIN, INT64_MAX, 100, 200, false});
  EXPECT_NE(pages.between(3, 1 << 30, (1 << 30) + 8, 0, 0, 150), nullptr);
}

long most_kib_until_now() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Safety, gets_take_no_memory_however_long_the_trace_tells_no_time) {
  const int gets = steps_of(1000000);
  test::TraceBytes trace(0, 2);
  trace.block().created(window, 0, 2, 2).select(window);
  for (int i = 0; i < gets; ++i) trace.get(1, i % 4 * 64, 64);
  trace.time(1000).end();
  const test::TemporaryFolder folder;
  StudyOptions options;
  options.traces = {folder.write("t", trace)};
  const long before = most_kib_until_now();
  Safety safety;
  EXPECT_EQ(run_safety(options, &safety), "");
  EXPECT_EQ(safety.windows.at(0).always.hits, gets - 4u);
  // one event per get would be 120 bytes
  EXPECT_LT(most_kib_until_now() - before, gets / 1000000.0 * 64 * 1024);
}

// The time of the get itself does not count as a later time, and an acquire without a time still
// ends the phase.
TEST(Safety, a_get_is_over_at_the_next_time_or_phase) {
  test::TraceBytes reader(0, 2), writer(1, 2);
  reader.block(0).created(window, 0, 2, 2).select(window).time(1000);
  // between 1000 and 2000, where a store is
  reader.get(1, 0, 64).get(1, 0, 64).sync(TraceSync::flush, 1);
  reader.time(1000).get(1, 0, 64).sync(TraceSync::acquire).get(1, 0, 64).end();
  writer.block(0)
      .created(window, 1, 2, 2)
      .select(window)
      .time(1500)
      .owner_write(0, 4096, 100)
      .end();
  const test::TemporaryFolder folder;
  StudyOptions options;
  options.traces = {folder.write("t.0", reader), folder.write("t.1", writer)};
  Safety safety;
  EXPECT_EQ(run_safety(options, &safety), "");
  const WindowSafety& found = safety.windows.at(0);
  EXPECT_EQ(found.always.hits, 3u);
  EXPECT_EQ(found.always.stale, 3u);
  EXPECT_EQ(found.user.invalidations, 1u);
  EXPECT_EQ(found.user.hits, 2u);
}

}  // namespace TEST_FILE
}  // namespace nearcache::simulate
