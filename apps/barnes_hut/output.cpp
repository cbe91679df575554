// SPDX-License-Identifier: BSD-3-Clause
#include "output.h"

#include <algorithm>

#include "../common/agreement.h"
#include "../common/shared_file.h"
#include "distribution.h"
#include "rows.h"

namespace barnes_hut {
void write_bodies(MPI_Comm comm, const std::vector<Body>& bodies, const std::string& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::uint64_t all = bodies.size();
  apps::check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  const std::uint64_t each = (all + ranks - 1) / ranks;
  auto ordered = send_to_owners(comm, bodies,
                                [&](const Body& body) { return static_cast<int>(body.id / each); });
  const std::string text = apps::together(comm, [&] {
    std::sort(ordered.begin(), ordered.end(),
              [](const Body& a, const Body& b) { return a.id < b.id; });
    return rows(ordered, rank == 0);
  });
  const std::uint64_t bytes = text.size();
  std::uint64_t before = 0;
  apps::check(MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Exscan");
  if (rank == 0) before = 0;  // MPI_Exscan leaves it undefined on rank 0
  apps::SharedFile file(comm, path);
  file.write(before, text.data(), bytes);
  file.finish();
}

}  // namespace barnes_hut
