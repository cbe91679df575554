// SPDX-License-Identifier: BSD-3-Clause
// The ids of windows in reports and traces. They are unique in a job: a rank gives no number twice,
// and windows with the same number are told apart by the lowest rank in their groups, as groups
// with that rank in common have used different numbers.
#pragma once

#include <cstdint>
#include <string>

#include "base/text.h"

namespace nearcache {

constexpr int window_number_bits = 32;

// `first_rank`: the lowest rank (of MPI_COMM_WORLD) in the window's group.
constexpr int64_t window_id(int first_rank, int64_t number) {
  return static_cast<int64_t>(first_rank) << window_number_bits | number;
}

constexpr int64_t window_number(int64_t id) {
  return id & ((int64_t{1} << window_number_bits) - 1);
}

// For keys of 32 bits: windows of a rank rarely have the same.
constexpr uint32_t window_hash(int64_t id) {
  return static_cast<uint32_t>(id + (id >> window_number_bits) * 0x9e3779b1);
}

// How people read and write an id: "7", or "4:7" if the lowest rank is 4.
inline std::string window_label(int64_t id) {
  if (id < int64_t{1} << window_number_bits) return std::to_string(id);
  return std::to_string(id >> window_number_bits) + ":" + std::to_string(window_number(id));
}

// Reads a label, or an id as JSON has it. Returns false if it is neither.
inline bool parse_window_label(const std::string& label, int64_t* id) {
  const size_t colon = label.find(':');
  uint64_t rank = 0, number = 0;
  if (colon == std::string::npos) {
    if (!parse_count(label, &number) || number > INT64_MAX) return false;
    *id = static_cast<int64_t>(number);
    return true;
  }
  if (!parse_count(label.substr(0, colon), &rank) || rank > INT32_MAX ||
      !parse_count(label.substr(colon + 1), &number) || number >> window_number_bits != 0)
    return false;
  *id = window_id(static_cast<int>(rank), static_cast<int64_t>(number));
  return true;
}

}  // namespace nearcache
