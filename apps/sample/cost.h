// SPDX-License-Identifier: BSD-3-Clause

// The cost of sampling on one rank.
#pragma once

#include <cstdint>

namespace sample {

/// Number of gets from other ranks, and their bytes.
struct Traffic {
  std::uint64_t gets = 0, bytes = 0;
  void add(std::uint64_t size) {
    ++gets;
    bytes += size;
  }
};

/// The work of one rank; times are wall time in seconds.
struct Cost {
  double communication = 0;  // gets and flushes
  double computation = 0;    // drawing neighbours, finding distinct vertices
  double check = 0;          // verifying the contents of rows
  Traffic row_pointers, lists, features;
  std::uint64_t sampled = 0;  // number of neighbours sampled
  std::uint64_t rows = 0;  // number of distinct rows in each minibatch, own rows included; summed
  // over neighbours and rows; a sum, so that minibatches may run in any order
  std::uint64_t checksum = 0;
};

}  // namespace sample
