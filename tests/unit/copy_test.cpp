#include "base/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace nearcache {
namespace TEST_FILE {

using Copy = void (*)(void*, const void*, size_t);

struct Named {
  const char* name;
  Copy copy;
};

class Copies : public testing::TestWithParam<Named> {
 protected:
  static constexpr size_t guard = 64;
  static constexpr std::byte untouched{0xa5};

  // Copies `bytes` between places at these offsets from a page's start. Returns what is wrong, or
  // an empty string.
  std::string wrong(size_t bytes, size_t to_offset, size_t from_offset) {
    std::byte* to = place(&target_, to_offset, bytes);
    std::byte* from = place(&source_, from_offset, bytes);
    std::fill(to - guard, to + bytes + guard, untouched);
    for (size_t i = 0; i < bytes; ++i)
      from[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 7 + bytes) & 0xff);
    GetParam().copy(to, from, bytes);
    const std::string where = std::to_string(bytes) + " bytes from offset " +
                              std::to_string(from_offset) + " to " + std::to_string(to_offset);
    if (!std::equal(from, from + bytes, to)) return where + " differ";
    for (size_t i = 0; i < guard; ++i)
      if (to[-1 - static_cast<ptrdiff_t>(i)] != untouched || to[bytes + i] != untouched)
        return where + " wrote beyond";
    return "";
  }

 private:
  static std::byte* place(std::vector<std::byte>* memory, size_t offset, size_t bytes) {
    constexpr size_t page = 4096;
    memory->resize(std::max(memory->size(), bytes + 4 * page));
    const size_t to_page = (page - reinterpret_cast<uintptr_t>(memory->data()) % page) % page;
    return memory->data() + to_page + page + offset;
  }

  std::vector<std::byte> source_, target_;
};

TEST_P(Copies, OfAnySizeToAnyPlaceInAVector) {
  for (size_t bytes = 0; bytes <= 1100; ++bytes)
    for (size_t offset = 0; offset < 32; offset += 5)
      ASSERT_EQ(wrong(bytes, offset, 3 * offset % 32), "");
}

TEST_P(Copies, OfAnySizeUpToMoreThanAPage) {
  for (size_t bytes = 1100; bytes <= 4097; ++bytes)
    ASSERT_EQ(wrong(bytes, bytes % 61, bytes % 37), "");
}

TEST_P(Copies, BetweenAnyPlacesInAPage) {
  for (size_t offset = 0; offset < 4096; offset += 13) {
    ASSERT_EQ(wrong(4096, offset, 0), "");
    ASSERT_EQ(wrong(2048 + 7, 17, offset), "");
  }
}

TEST_P(Copies, OfLargeSizes) {
  for (const size_t bytes : {size_t{65536}, size_t{65537}, size_t{262143}, (size_t{3} << 20) + 11})
    for (const size_t offset : {0, 1, 16, 24, 4095}) ASSERT_EQ(wrong(bytes, offset, 0), "");
}

INSTANTIATE_TEST_SUITE_P(All, Copies,
                         testing::Values(Named{"any", copy_bytes}, Named{"large", copy_large},
                                         Named{"aside", copy_aside}),
                         [](const auto& info) { return info.param.name; });

}  // namespace TEST_FILE
}  // namespace nearcache
