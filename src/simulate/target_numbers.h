// SPDX-License-Identifier: BSD-3-Clause

// Numbers the targets of a window, so that data about each can be kept in an array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace nearcache::simulate {

class TargetNumbers {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  // Ranks 0 to `ranks` - 1, numbered as themselves.
  explicit TargetNumbers(uint32_t ranks = 0) : count_(ranks) {}
  // The ranks that a trace names, sorted: for a window whose size is unknown, or too large for an
  // array.
  explicit TargetNumbers(std::vector<uint32_t> named)
      : count_(static_cast<uint32_t>(named.size())),
        named_(std::make_shared<const std::vector<uint32_t>>(std::move(named))) {}

  uint32_t count() const { return count_; }
  // Returns true if the numbers are ranks, and thus the same for all ranks of the window.
  bool are_ranks() const { return named_ == nullptr; }
  // Returns the number of `rank`, or `none` if it is not a target: files cannot be trusted.
  uint32_t of(uint32_t rank) const {
    if (named_ == nullptr) return rank < count_ ? rank : none;
    const auto at = std::lower_bound(named_->begin(), named_->end(), rank);
    return at != named_->end() && *at == rank ? static_cast<uint32_t>(at - named_->begin()) : none;
  }

 private:
  uint32_t count_;
  std::shared_ptr<const std::vector<uint32_t>> named_;
};

}  // namespace nearcache::simulate
