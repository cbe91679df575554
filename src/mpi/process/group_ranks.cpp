// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/group_ranks.h"

#include <algorithm>
#include <numeric>

#include "mpi/process/next.h"

namespace nearcache::mpi {

GroupRanks::GroupRanks(MPI_Group group, MPI_Group other) {
  int size = 0;
  if (group == MPI_GROUP_NULL || other == MPI_GROUP_NULL ||
      next.Group_size(group, &size) != MPI_SUCCESS)
    return;
  size_ = static_cast<size_t>(size);
  if (size_ > few) many_.resize(2 * size_);
  int* const there = many_.empty() ? few_.data() : many_.data();
  int* const here = there + size_;
  std::fill(there, here, MPI_UNDEFINED);
  std::iota(here, here + size_, 0);
  known_ = next.Group_translate_ranks(group, size, here, other, there) == MPI_SUCCESS &&
           std::find(there, here, MPI_UNDEFINED) == here;
}

}  // namespace nearcache::mpi
