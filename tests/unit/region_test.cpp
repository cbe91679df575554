// Reserved memory is not used until it is touched.
#include "base/region.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/kernel_page.h"
#include "net/arena.h"

namespace nearcache {
namespace TEST_FILE {

constexpr size_t bytes = 32 << 20;

int64_t resident_pages(void* from) {
  std::vector<unsigned char> pages(bytes / kernel_page());
  if (mincore(from, bytes, pages.data()) != 0) return -1;
  return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
}

// Returns false if this user may not lock as much as the tests map.
bool locks_what_it_maps() {
  constexpr size_t enough = 2 * bytes;
  if (mlockall(MCL_FUTURE) != 0) return false;
  void* const mapped = mmap(nullptr, enough, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped != MAP_FAILED && munmap(mapped, enough) == 0;
}

// Runs in a process that locks everything it maps from now on.
void expect_in_locked_process(const std::function<bool()>& good) {
  constexpr int may_not = 2;
  const pid_t child = fork();
  if (child == 0) _exit(!locks_what_it_maps() ? may_not : good() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == may_not) GTEST_SKIP() << "this user may not lock so much memory";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Region, is_not_filled_where_the_program_locks_its_memory) {
  expect_in_locked_process([] {
    Region region;
    if (!region.reserve(bytes) || resident_pages(region.base()) != 0) return false;
    static_cast<char*>(region.base())[bytes / 2] = 1;
    return resident_pages(region.base()) == 1;
  });
}

TEST(Region, memory_that_ranks_share_is_not_filled_either) {
  expect_in_locked_process([] {
    std::string wrong;
    const auto arena = net::Arena::make(bytes, &wrong);
    return arena != nullptr && resident_pages(arena->at(0)) <= 1;
  });
}

}  // namespace TEST_FILE
}  // namespace nearcache
