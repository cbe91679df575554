#include "base/private_heap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "sanitized.h"

namespace heap = nearcache::private_heap;

namespace TEST_FILE {

struct Block {
  unsigned char* at;
  size_t bytes;
  unsigned char filled;
};

bool whole(const Block& block) {
  for (size_t i = 0; i < block.bytes; ++i) {
    if (block.at[i] != block.filled) return false;
  }
  return true;
}

TEST(PrivateHeap, BlocksAreAlignedAndNeverOverlap) {
  std::mt19937 random(1);
  std::vector<Block> blocks;
  for (int round = 0; round < nearcache::steps_of(20000); ++round) {
    if (blocks.size() < 200 || random() % 2 == 0) {
      const size_t align = size_t{16} << random() % 8,
                   bytes = random() % (size_t{1} << random() % 20);
      Block block{static_cast<unsigned char*>(heap::allocate(bytes, align)), bytes,
                  static_cast<unsigned char>(random())};
      ASSERT_NE(block.at, nullptr);
      ASSERT_TRUE(heap::owns(block.at));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(block.at) % align, 0u);
      ASSERT_GE(heap::usable_bytes(block.at), bytes);
      block.bytes = heap::usable_bytes(block.at);
      std::memset(block.at, block.filled, block.bytes);
      blocks.push_back(block);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      ASSERT_TRUE(whole(blocks.back()));
      heap::release(blocks.back().at);
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) {
    ASSERT_TRUE(whole(block));
    heap::release(block.at);
  }
}

TEST(PrivateHeap, FreedBlocksAreUsedAgain) {
  void* first = heap::allocate(1000);
  heap::release(first);
  EXPECT_EQ(heap::allocate(1000), first);
  heap::release(first);
}

TEST(PrivateHeap, OtherBlocksAreNotItsOwn) {
  int here = 0;
  const std::vector<int> there(1000);
  heap::release(heap::allocate(1));
  EXPECT_FALSE(heap::owns(&here));
  EXPECT_FALSE(heap::owns(there.data()));
  EXPECT_FALSE(heap::owns(nullptr));
}

TEST(PrivateHeap, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(heap::allocate(size_t{1} << 40), nullptr);
  EXPECT_EQ(heap::allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(heap::allocate(SIZE_MAX, 4096), nullptr);
}

TEST(PrivateHeap, ThreadsShareItAndChildrenGoOn) {
  // an object allocates its first block before main; a fork during the very first would not know of
  // the heap
  heap::release(heap::allocate(1));
  std::atomic<bool> done{false};
  const auto work = [&] {
    for (unsigned i = 0; !done; ++i) {
      auto* block = static_cast<unsigned char*>(heap::allocate(i % 500 + 1));
      *block = 1;
      heap::release(block);
    }
  };
  std::thread first(work), second(work);
  for (int i = 0; i < nearcache::steps_of(100); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // in case the heap was left locked
      heap::release(heap::allocate(100));
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  done = true;
  first.join();
  second.join();
}

}  // namespace TEST_FILE
