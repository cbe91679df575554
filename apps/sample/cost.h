// What sampling costs a rank.
#pragma once

#include <cstdint>

namespace sample {

/// Gets from other ranks and their bytes.
struct Traffic {
  std::uint64_t gets = 0, bytes = 0;
  void add(std::uint64_t size) {
    ++gets;
    bytes += size;
  }
};

/// What one rank did. Seconds of wall time.
struct Cost {
  double communication = 0;  // gets and flushes
  double computation = 0;    // drawing neighbours, finding distinct vertices
  double check = 0;          // comparing rows with what they must hold
  Traffic row_pointers, lists, features;
  std::uint64_t sampled = 0;  // neighbours
  std::uint64_t rows = 0;     // distinct rows of each minibatch, own ones included
  // of neighbours and rows; a sum, so that minibatches may come in any order
  std::uint64_t checksum = 0;
};

}  // namespace sample
