// What is left of a limit on address space (ulimit -v).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/memory.h"

namespace nearcache {
namespace TEST_FILE {

TEST(AddressSpace, WhatIsMappedIsNotLeft) {
  constexpr uint64_t mega = uint64_t{1} << 20, limit_above = uint64_t{1} << 46;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "there is a limit already";
  EXPECT_EQ(address_space_left(), UINT64_MAX);
  rlimit limited = before;
  limited.rlim_cur = limit_above;  // more than any sanitizer maps
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const uint64_t first = address_space_left();
  void* const mapped = mmap(nullptr, 512 * mega, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t then = address_space_left();
  setrlimit(RLIMIT_AS, &before);
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(mapped, 512 * mega);
  EXPECT_LT(first, limit_above);
  EXPECT_GE(first, then + 512 * mega);
  EXPECT_LT(first, then + 600 * mega);
}

}  // namespace TEST_FILE
}  // namespace nearcache
