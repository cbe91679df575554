// Batches with a number, and a receiver that checks them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "net/fabric.h"

namespace nearcache::net {

// Each byte depends on the number.
inline std::vector<std::byte> bytes_of(uint64_t number, size_t length) {
  std::vector<std::byte> batch(std::max(length, sizeof number));
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<std::byte>(number + i);
  std::memcpy(batch.data(), &number, sizeof number);
  return batch;
}

// Expects the batches of each rank to be numbered.
struct Listener final : Receiver {
  std::map<int, uint64_t> got;
  std::map<int, std::string> gone;
  void received(int from, std::span<const std::byte> batch) override {
    uint64_t number;
    ASSERT_GE(batch.size(), sizeof number);
    std::memcpy(&number, batch.data(), sizeof number);
    EXPECT_EQ(number, got[from]++);
    EXPECT_TRUE(std::ranges::equal(batch, bytes_of(number, batch.size())));
  }
  void lost(int peer, const std::string& why) override { gone[peer] = why; }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const auto& [from, count] : got) sum += count;
    return sum;
  }
};

}  // namespace nearcache::net
