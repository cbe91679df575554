// SPDX-License-Identifier: BSD-3-Clause

// The ranks that the members of a group have in another group.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// MPI_Win_start and MPI_Win_post ask each time, so few members need no memory from the heap.
class GroupRanks {
 public:
  GroupRanks() = default;
  // MPI is not asked about MPI_GROUP_NULL, because it would raise the error on a communicator.
  GroupRanks(MPI_Group group, MPI_Group other);

  // False if some member is not in the other group, or MPI cannot tell.
  bool known() const { return known_; }
  // In the order of the group; empty if they are not known.
  std::span<const int> all() const {
    return {many_.empty() ? few_.data() : many_.data(), known_ ? size_ : 0};
  }

 private:
  static constexpr size_t few = 64;

  bool known_ = false;
  size_t size_ = 0;
  std::array<int, 2 * few> few_;  // the ranks in the other group, then those in the group
  std::vector<int> many_;         // the same, if they are more
};

}  // namespace nearcache::mpi
