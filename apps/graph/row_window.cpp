// SPDX-License-Identifier: BSD-3-Clause
#include "graph/row_window.h"

#include <algorithm>

#include "common/agreement.h"

namespace apps {

RowWindow::RowWindow(MPI_Comm comm, const Graph& graph)
    : partition_(graph.partition),
      rank_(graph.rank),
      offsets_(graph.offsets.data()),
      window_(comm,
              {offsets_, graph.offsets.size() * sizeof(std::uint64_t), sizeof(std::uint64_t),
               MPI_UINT64_T},
              "row pointers") {
  for (std::uint64_t v = 0; v < graph.local_vertices(); ++v)
    max_degree_ = std::max(max_degree_, graph.degree(v));
  check(MPI_Allreduce(MPI_IN_PLACE, &max_degree_, 1, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");
}

}  // namespace apps
