// What the system tells of mapped memory, by either of its answers.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "base/mapping.h"

namespace nearcache {
namespace TEST_FILE {

const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));

class MappingTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    at = static_cast<char*>(
        mmap(nullptr, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(at, MAP_FAILED);
  }
  void TearDown() override { munmap(at, 8 * page); }
  Mapping of(const char* from, size_t bytes) const { return mapping_of(from, bytes, GetParam()); }

  char* at = nullptr;
};

TEST_P(MappingTest, private_memory_is_readable_and_not_shared) {
  const Mapping all = of(at + 100, 8 * page - 200);
  EXPECT_TRUE(all.readable);
  EXPECT_FALSE(all.shared);
}

TEST_P(MappingTest, rights_may_differ_as_long_as_all_is_readable) {
  mprotect(at + 2 * page, page, PROT_READ);
  EXPECT_TRUE(of(at, 8 * page).readable);
  mprotect(at + 5 * page, page, PROT_NONE);
  EXPECT_FALSE(of(at, 8 * page).readable);
  EXPECT_TRUE(of(at, 5 * page).readable);
  EXPECT_FALSE(of(at, 5 * page + 1).readable);
  EXPECT_TRUE(of(at + 6 * page, 2 * page).readable);
}

TEST_P(MappingTest, a_hole_is_not_readable) {
  munmap(at + 3 * page, page);
  EXPECT_FALSE(of(at + 2 * page, 3 * page).readable);
  EXPECT_FALSE(of(at + 3 * page, page).readable);
  EXPECT_FALSE(of(at + 3 * page, page).shared);
  EXPECT_TRUE(of(at + 4 * page, page).readable);
}

TEST_P(MappingTest, what_is_shared_in_part_is_shared) {
  ASSERT_NE(mmap(at + 4 * page, page, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_TRUE(of(at, 8 * page).shared);
  EXPECT_TRUE(of(at, 8 * page).readable);
  EXPECT_TRUE(of(at + 4 * page, 1).shared);
  EXPECT_FALSE(of(at, 4 * page).shared);
  EXPECT_FALSE(of(at + 5 * page, 3 * page).shared);
}

TEST_P(MappingTest, files_are_told_apart_from_loaded_objects) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), static_cast<off_t>(page)), 0);
  ASSERT_NE(
      mmap(at + 4 * page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fileno(file), 0),
      MAP_FAILED);
  EXPECT_TRUE(of(at, 8 * page).of_file);
  EXPECT_FALSE(of(at, 8 * page).shared);
  EXPECT_FALSE(of(at, 4 * page).of_file);
  EXPECT_FALSE(of(at + 5 * page, 3 * page).of_file);
  static char of_the_program[100] = "not zero, and therefore in the file";
  EXPECT_FALSE(of(of_the_program, sizeof of_the_program).of_file);
  std::fclose(file);
}

TEST_P(MappingTest, beyond_the_last_mapping_nothing_is_readable) {
  EXPECT_FALSE(of(reinterpret_cast<const char*>(uintptr_t{0x7fffffff0000}), 4096).readable);
}

INSTANTIATE_TEST_SUITE_P(, MappingTest, testing::Values(false, true),
                         [](const auto& by) { return by.param ? "text" : "question"; });

}  // namespace TEST_FILE
}  // namespace nearcache
