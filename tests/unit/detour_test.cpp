// Copies of memory that may not exist.
#include "net/detour.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "without_calls.h"

static int interruptions = 0;  // of the next calls of fallocate, as by signals before Linux 6.10

extern "C" int fallocate(int file, int mode, off_t offset, off_t length) {
  if (interruptions == 0)
    return static_cast<int>(syscall(SYS_fallocate, file, mode, offset, length));
  --interruptions;
  errno = EINTR;
  return -1;
}

namespace nearcache::net {
namespace TEST_FILE {

constexpr size_t page = 4096;

TEST(Detour, StopsWhereMemoryIsNotThere) {
  auto* const memory = static_cast<char*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(memory, 'a', 3 * page);
  munmap(memory + page, page);
  Detour detour;
  const iovec runs[] = {{memory, 100}, {memory + page + 8, 8}, {memory + 2 * page, 100}};
  EXPECT_EQ(detour.take(runs), 100u);
  EXPECT_TRUE(detour.checks());
  EXPECT_EQ(std::memcmp(detour.buffer(), memory, 100), 0);
  std::memset(detour.buffer(), 'b', 208);
  EXPECT_EQ(detour.give(runs), 100u);
  EXPECT_EQ(memory[99], 'b');
  EXPECT_EQ(memory[100], 'a');
  EXPECT_EQ(memory[2 * page], 'a');
  mprotect(memory, page, PROT_READ);
  EXPECT_EQ(detour.give({runs, 1}), 0u);
  EXPECT_EQ(detour.take({runs, 1}), 100u);
  munmap(memory, page);
  munmap(memory + 2 * page, page);
}

TEST(Detour, KnowsWhatCanBeWritten) {
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(memory, 0xa5, 4 * page);
  munmap(memory + 2 * page, page);
  mprotect(memory + 3 * page, page, PROT_READ);
  EXPECT_TRUE(Detour::can_write(memory, 1));
  EXPECT_TRUE(Detour::can_write(memory + 100, page));
  const bool knows_more = madvise(memory, page, 23) == 0;  // MADV_POPULATE_WRITE
  EXPECT_EQ(Detour::can_write(memory, page + 1), knows_more);
  EXPECT_EQ(Detour::can_write(memory + 1, 2 * page - 1), knows_more);
  EXPECT_FALSE(Detour::can_write(memory + 1, 2 * page));
  EXPECT_FALSE(Detour::can_write(memory + 2 * page, 2 * page));
  EXPECT_FALSE(Detour::can_write(memory + 3 * page - 8, page + 8));
  EXPECT_FALSE(Detour::can_write(memory, 0));
  EXPECT_TRUE(Detour::can_write(memory + 2 * page - 8, 8));
  EXPECT_TRUE(Detour::can_write(memory + 2 * page - 3, 3));
  EXPECT_FALSE(Detour::can_write(memory + 2 * page - 7, 8));
  EXPECT_FALSE(Detour::can_write(memory + 2 * page, 8));
  EXPECT_FALSE(Detour::can_write(memory + 3 * page - 1, 8));
  EXPECT_FALSE(Detour::can_write(memory + 3 * page, 8));
  EXPECT_FALSE(Detour::can_write(nullptr, 8));
  for (size_t i = 0; i < 2 * page; ++i) ASSERT_EQ(memory[i], std::byte{0xa5});
  munmap(memory, 2 * page);
  munmap(memory + 3 * page, page);
}

TEST(Detour, KnowsNothingWhereTheKernelRefusesToSay) {
  EXPECT_TRUE(test::without_calls({SYS_futex}, [] {
    std::byte memory[8] = {};
    return !Detour::can_write(memory, sizeof memory);
  }));
}

TEST(Detour, IsNotGivenUpForASignal) {
  interruptions = 2;
  Detour detour;
  char memory[] = "word";
  const iovec run{memory, sizeof memory};
  EXPECT_EQ(detour.take({&run, 1}), sizeof memory);
  EXPECT_EQ(interruptions, 0);
  EXPECT_TRUE(detour.checks());
}

// By default the system kills a process that makes a file larger than ulimit -f.
TEST(Detour, BelievesInMemoryWhereFilesAreLimitedToLess) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit small{Detour::bytes / 2, Detour::bytes / 2};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) _exit(2);
    Detour detour;
    char memory[] = "word";
    const iovec run{memory, sizeof memory};
    const bool copied = detour.take({&run, 1}) == sizeof memory &&
                        std::memcmp(detour.buffer(), memory, sizeof memory) == 0;
    _exit(copied && !detour.checks() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace TEST_FILE
}  // namespace nearcache::net
