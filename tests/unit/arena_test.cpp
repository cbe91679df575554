// Memory shared by the ranks of a node: who finds it, who gets which part, and what is returned.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "net/arena.h"
#include "net/page_allocator.h"
#include "rma/node.h"

namespace nearcache {
namespace TEST_FILE {

constexpr uint64_t megabyte = 1 << 20;

TEST(PageAllocator, GivesEachPageToOneAndTakesAllBack) {
  std::mt19937 random(1);
  constexpr uint64_t pages = 500;
  net::PageAllocator allocator(pages);
  std::vector<bool> used(pages);
  std::map<uint64_t, uint64_t> taken;
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t count = 1 + random() % 40;
    if (random() % 2 == 0) {
      if (const std::optional<uint64_t> first = allocator.take(count)) {
        ASSERT_LE(*first + count, pages);
        for (uint64_t page = *first; page < *first + count; ++page) {
          ASSERT_FALSE(used[page]);
          used[page] = true;
        }
        taken.emplace(*first, count);
      } else {
        ++refused;
        uint64_t row = 0, longest = 0;
        for (const bool page : used) row = page ? 0 : row + 1, longest = std::max(longest, row);
        ASSERT_LT(longest, count);
      }
    } else if (!taken.empty()) {
      const auto victim = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      const auto [first, length] = *victim;
      taken.erase(victim);
      ASSERT_EQ(allocator.give_back(first), length);
      for (uint64_t page = first; page < first + length; ++page) used[page] = false;
    }
    ASSERT_EQ(allocator.used(), static_cast<uint64_t>(std::ranges::count(used, true)));
  }
  EXPECT_GT(refused, 0);
  for (const auto& [first, count] : taken) allocator.give_back(first);
  EXPECT_EQ(allocator.take(pages), 0u);
}

TEST(Arena, IsOneMemoryOfSeveralProcesses) {
  std::string wrong;
  const auto arena = net::Arena::make(64 * megabyte, &wrong);
  ASSERT_NE(arena, nullptr) << wrong;
  std::byte* const word = arena->at(5 * megabyte);
  const pid_t child = fork();
  if (child == 0) {
    std::string why;
    const auto same = net::Arena::open(arena->name(), &why);
    if (same == nullptr || same->at(0) == arena->at(0)) _exit(1);
    std::memset(same->at(5 * megabyte), 7, 1);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*word, std::byte{7});
}

TEST(Arena, IsNotTakenForAnother) {
  std::string wrong;
  const auto arena = net::Arena::make(megabyte, &wrong);
  net::Arena::Name name = arena->name();
  name.number ^= 1;
  EXPECT_EQ(net::Arena::open(name, &wrong), nullptr);
  EXPECT_NE(wrong.find("another arena"), std::string::npos) << wrong;
  name = arena->name();
  name.size *= 2;
  EXPECT_EQ(net::Arena::open(name, &wrong), nullptr);
  EXPECT_NE(wrong.find("another file"), std::string::npos) << wrong;
  name = arena->name();
  ++name.processes;
  EXPECT_EQ(net::Arena::open(name, &wrong), nullptr);
  EXPECT_NE(wrong.find("namespaces"), std::string::npos) << wrong;
  // No process can truncate it while others use it.
  EXPECT_NE(ftruncate(static_cast<int>(arena->name().descriptor), 0), 0);
  const net::Arena::Name last = arena->name();
  arena->close_door();
  EXPECT_EQ(net::Arena::open(last, &wrong), nullptr);
  EXPECT_EQ(net::Arena::open({}, &wrong), nullptr);
  EXPECT_EQ(wrong, "there is no arena");
}

TEST(Arena, IsNoFileThatCanBeCutOff) {
  std::string wrong;
  const auto arena = net::Arena::make(megabyte, &wrong);
  net::Arena::Name name = arena->name();
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  name.descriptor = fileno(file);
  ASSERT_EQ(ftruncate(fileno(file), static_cast<off_t>(name.size)), 0);
  ASSERT_EQ(std::fwrite(&name.number, sizeof name.number, 1, file), 1u);
  std::fflush(file);
  EXPECT_EQ(net::Arena::open(name, &wrong), nullptr);
  EXPECT_NE(wrong.find("another file"), std::string::npos) << wrong;
  std::fclose(file);
}

// By default the system kills a process that makes a file larger than ulimit -f.
TEST(Arena, IsNotMadeWhereFilesAreLimitedToLess) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit small{megabyte, megabyte};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) _exit(2);
    std::string wrong;
    const bool made = net::Arena::make(2 * megabyte, &wrong) != nullptr;
    _exit(made || wrong.find("ulimit") == std::string::npos ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Node, MemoryThatIsGivenBackIsTheSystemsAgain) {
  std::string wrong;
  const auto arena = net::Arena::make(256 * megabyte, &wrong);
  rma::Node node(arena, {0, 1}, 1);
  const auto blocks = [&] {
    struct stat file {};
    fstat(static_cast<int>(arena->name().descriptor), &file);
    return file.st_blocks;
  };
  const auto before = blocks();
  for (int i = 0; i < 5000; ++i) {
    std::byte* const memory = node.take(1 + static_cast<uint64_t>(i) * 100 % 300000);
    ASSERT_NE(memory, nullptr);
    ASSERT_TRUE(node.contains(memory));
    ASSERT_EQ(*memory, std::byte{0});
    std::memset(memory, 1, 1);
    node.give_back(memory);
  }
  EXPECT_EQ(blocks(), before);
  EXPECT_EQ(node.bytes_in_use(), 0u);
  EXPECT_EQ(node.take(1 << 30), nullptr);
  EXPECT_EQ(node.take(UINT64_MAX), nullptr);
}

// Otherwise a program that locks all of its memory (mlockall) would fill the node's.
TEST(Node, OnlyMemoryThatWindowsHaveTakenIsAccessible) {
  std::string wrong;
  const auto arena = net::Arena::make(256 * megabyte, &wrong);
  const pid_t child = fork();
  if (child == 0) {
    const rma::Node reader(arena, {0, 1}, 0);
    rma::Node owner(arena, {0, 1}, 1);
    reader.close_off();
    const int device = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    const auto is_accessible = [&](uint64_t offset) {
      return read(device, arena->at(offset), 1) == 1;
    };
    const uint64_t all = arena->name().size - megabyte;
    if (device < 0 || is_accessible(all) || is_accessible(all / 2 - megabyte)) _exit(1);
    owner.publish(1, rma::Memory::dynamic());
    if (reader.find(1, 1) == nullptr || owner.inbox(0)->writers != 0) _exit(2);
    std::byte* const memory = owner.take(3 * megabyte);
    if (memory == nullptr) _exit(3);
    const uint64_t begin = arena->offset(memory), end = begin + 3 * megabyte;
    if (!is_accessible(begin) || !is_accessible(end - 1) || is_accessible(end)) _exit(4);
    reader.close_off();  // as in another process
    if (is_accessible(begin) || !reader.open_up(begin + 5, 100)) _exit(5);
    if (!is_accessible(begin) || is_accessible(begin + megabyte)) _exit(6);
    _exit(reader.open_up(end, 0) && !is_accessible(end) ? 0 : 7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Node, FindsWhatOthersHavePublishedAndNothingElse) {
  std::string wrong;
  const auto arena = net::Arena::make(256 * megabyte, &wrong);
  rma::Node owner(arena, {2, 5}, 2), reader(arena, {2, 5}, 5);
  std::mt19937_64 random(3);
  std::map<uint64_t, rma::Commons*> windows;
  for (int i = 0; i < 20000; ++i) {
    // Runs of ids that begin close to each other.
    const uint64_t id = (1 + random() % 3) << 32 | (1 + random() % 5000);
    if (const auto found = windows.find(id); found != windows.end()) {
      owner.withdraw(found->second);
      windows.erase(found);
    } else {
      ASSERT_TRUE(owner.has_room());
      windows.emplace(id, owner.publish(id, rma::Memory::fixed(nullptr, 0, 4)));
    }
    const uint64_t asked = (1 + random() % 3) << 32 | (1 + random() % 5000);
    const rma::Commons* const found = reader.find(0, asked);
    ASSERT_EQ(found, windows.contains(asked) ? windows[asked] : nullptr);
    ASSERT_EQ(reader.find(1, asked), nullptr);
  }
  for (const auto& [id, commons] : windows) owner.withdraw(commons);
  for (uint64_t id = 1; id <= rma::Node::most_windows; ++id) {
    ASSERT_TRUE(owner.has_room());
    owner.publish(id << 32 | 1, rma::Memory::dynamic());
  }
  EXPECT_FALSE(owner.has_room());
  EXPECT_TRUE(owner.holds(net::Arena::reserved, 100));
  EXPECT_FALSE(owner.holds(0, 100));
  EXPECT_FALSE(owner.holds(net::Arena::reserved, UINT64_MAX));
  EXPECT_FALSE(owner.holds(UINT64_MAX, 8));
}

}  // namespace TEST_FILE
}  // namespace nearcache
