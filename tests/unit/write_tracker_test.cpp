// Which pages were written since the last look: by the kernel's write protection where available,
// and by checksums.
#include "telemetry/write_tracker.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/kernel_page.h"

namespace nearcache {
namespace TEST_FILE {

class WriteTrackerTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) tracker.use_checksums_only();
    memory = static_cast<unsigned char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
  }
  void TearDown() override { munmap(memory, bytes); }

  std::vector<WriteTracker::Run> look(int range) {
    std::vector<WriteTracker::Run> runs;
    tracker.look(range, &runs);
    return runs;
  }

  const size_t page = kernel_page();
  const size_t bytes = 64 * page;
  unsigned char* memory = nullptr;
  WriteTracker tracker;
};

TEST_P(WriteTrackerTest, finds_the_page_of_one_store_and_only_once) {
  const int range = tracker.watch(memory, bytes);
  EXPECT_TRUE(!GetParam() || tracker.means(range) == std::string("checksums"));
  EXPECT_TRUE(look(range).empty());
  memory[5 * page + 17] = 1;
  const auto runs = look(range);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].first, 5 * page);
  EXPECT_EQ(runs[0].bytes, page);
  EXPECT_TRUE(look(range).empty());
  memory[5 * page + 17] = 2;
  EXPECT_EQ(look(range).size(), 1u);
}

TEST_P(WriteTrackerTest, neighbouring_pages_are_one_run) {
  const int range = tracker.watch(memory, bytes);
  std::memset(memory + 8 * page, 3, 4 * page);
  memory[40 * page] = 1;
  const auto runs = look(range);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].first, 8 * page);
  EXPECT_EQ(runs[0].bytes, 4 * page);
  EXPECT_EQ(runs[1].first, 40 * page);
}

TEST_P(WriteTrackerTest, stores_beside_the_range_on_the_same_page_are_not_its_own) {
  const int range = tracker.watch(memory + 100, 3 * page);
  memory[99] = 1;
  memory[100 + 3 * page] = 1;
  EXPECT_TRUE(look(range).empty());
  memory[100] = 1;
  memory[99 + 3 * page] = 1;
  const auto runs = look(range);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].first, 0u);
  EXPECT_EQ(runs[0].bytes, page - 100);
  EXPECT_EQ(runs[1].first, 3 * page - 100);
  EXPECT_EQ(runs[1].bytes, 100u);
}

TEST_P(WriteTrackerTest, two_ranges_on_the_same_pages_both_see_a_store) {
  const int one = tracker.watch(memory, 8 * page);
  const int two = tracker.watch(memory + 4 * page, 8 * page);
  memory[6 * page] = 1;
  EXPECT_EQ(look(one).size(), 1u);
  const auto runs = look(two);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].first, 2 * page);
  tracker.unwatch(one);
  memory[6 * page] = 2;
  EXPECT_EQ(look(two).size(), 1u);
}

TEST_P(WriteTrackerTest, writes_before_watching_do_not_count) {
  std::memset(memory, 7, bytes);
  const int range = tracker.watch(memory, bytes);
  EXPECT_TRUE(look(range).empty());
}

TEST_P(WriteTrackerTest, many_scattered_pages_are_all_found) {
  const int range = tracker.watch(memory, bytes);
  for (size_t i = 0; i < 64; i += 2) memory[i * page] = 9;
  const auto runs = look(range);
  ASSERT_EQ(runs.size(), 32u);
  for (size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].first, 2 * i * page);
}

// The kernel protects them as a whole only, and tells nothing of a part.
TEST_P(WriteTrackerTest, stores_are_found_in_parts_of_huge_pages) {
  constexpr size_t huge = 2 << 20;
  void* const mapped = mmap(nullptr, huge, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "no huge pages (vm.nr_hugepages)";
  auto* const part = static_cast<unsigned char*>(mapped);
  const int range = tracker.watch_by_protection(part, huge);
  if (range >= 0) {
    part[9 * page] = 1;
    std::vector<WriteTracker::Run> runs;
    tracker.look_at_part(range, 8 * page, 4 * page, &runs);
    EXPECT_FALSE(runs.empty());
    tracker.unwatch(range);
  }
  munmap(mapped, huge);
}

TEST_P(WriteTrackerTest, an_empty_range_has_nothing_to_tell) {
  const int range = tracker.watch(memory, 0);
  memory[0] = 1;
  EXPECT_TRUE(look(range).empty());
}

INSTANTIATE_TEST_SUITE_P(means, WriteTrackerTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "checksums" : "kernel"; });

}  // namespace TEST_FILE
}  // namespace nearcache
