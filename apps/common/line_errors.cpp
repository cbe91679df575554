// SPDX-License-Identifier: BSD-3-Clause
#include "line_errors.h"

#include <fmt/core.h>

#include "agreement.h"

namespace apps {

void agree_on_lines(MPI_Comm comm, const std::string& path, std::uint64_t lines_before,
                    const SliceLines& slice) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // The lowest rank with an error reports it. All slices before its own were read in full, so the
  // sum of their line counts is exact.
  std::uint64_t earlier = 0;
  check(MPI_Exscan(&slice.count, &earlier, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Exscan");
  if (rank == 0) earlier = 0;  // MPI_Exscan leaves it undefined on rank 0
  std::string error;
  if (slice.error) {
    error = fmt::format("{}:{}: {}", path, lines_before + earlier + slice.error->line + 1,
                        slice.error->message);
  }
  agree(comm, error);
}

}  // namespace apps
