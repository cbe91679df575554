// SPDX-License-Identifier: BSD-3-Clause

// Determines until when fetched bytes may be served, by the mode's rule and the rank's own writes.
// It is exact, whereas the library's write log may err on the safe side.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

namespace nearcache::simulate {

// Records which bytes of which targets were written when.
class WrittenRanges {
 public:
  bool empty() const { return targets_.empty(); }
  void clear() { targets_.clear(); }
  void write(uint32_t target, int64_t from, int64_t to, uint64_t time);
  // Returns true if a byte of [from, to) was written at `since` or later.
  bool written_since(uint32_t target, int64_t from, int64_t to, uint64_t since) const;

 private:
  struct Piece {
    int64_t to;
    uint64_t time;
  };
  using Pieces = std::map<int64_t, Piece>;  // by first byte; no two overlap
  std::unordered_map<uint32_t, Pieces> targets_;
};

}  // namespace nearcache::simulate
