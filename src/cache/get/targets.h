// SPDX-License-Identifier: BSD-3-Clause

// The targets of a window that a call concerns. "All" and "none" are separate kinds rather than
// special numbers, since a rank may be MPI_PROC_NULL, which is -1 in some MPIs, or simply invalid.
#pragma once

#include <cstdint>

namespace nearcache {

class Targets {
 public:
  static constexpr Targets all() { return {Kind::all, 0}; }
  static constexpr Targets none() { return {Kind::none, 0}; }
  static constexpr Targets one(uint32_t rank) { return {Kind::one, rank}; }

  // Returns the rank that the program named, in a window of `ranks` ranks; none() if it is out of
  // range.
  static constexpr Targets named(int rank, uint32_t ranks) {
    return rank >= 0 && static_cast<uint32_t>(rank) < ranks ? one(static_cast<uint32_t>(rank))
                                                            : none();
  }

  constexpr bool is_all() const { return kind_ == Kind::all; }
  constexpr bool is_none() const { return kind_ == Kind::none; }
  constexpr bool is_one() const { return kind_ == Kind::one; }
  constexpr uint32_t rank() const { return rank_; }  // pre: is_one()
  constexpr bool cover(uint32_t rank) const {
    return kind_ == Kind::all || (kind_ == Kind::one && rank_ == rank);
  }

 private:
  enum class Kind : uint8_t { none, one, all };
  constexpr Targets(Kind kind, uint32_t rank) : kind_(kind), rank_(rank) {}
  Kind kind_;
  uint32_t rank_;
};

}  // namespace nearcache
