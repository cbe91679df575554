// SPDX-License-Identifier: BSD-3-Clause
#include "graph/node_memory.h"

#include <functional>
#include <string_view>

#include <fmt/core.h>

#include "common/agreement.h"
#include "graph/memory.h"

namespace apps {
namespace {

// Returns a communicator of the ranks on this host. MPI_COMM_TYPE_SHARED does not work here: a
// library that is told to use only the network puts every rank on a node of its own.
MPI_Comm host_communicator(MPI_Comm comm) {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0, rank = 0;
  MPI_Get_processor_name(name, &length);
  MPI_Comm_rank(comm, &rank);
  const auto hash = std::hash<std::string_view>{}({name, static_cast<std::size_t>(length)});
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split(comm, static_cast<int>(hash & 0x7fff), rank, &host), "MPI_Comm_split");
  return host;
}

}  // namespace

void require_memory(MPI_Comm comm, double bytes, const std::string& what) {
  MPI_Comm host = host_communicator(comm);
  double needed = 0;
  check(MPI_Allreduce(&bytes, &needed, 1, MPI_DOUBLE, MPI_SUM, host), "MPI_Allreduce");
  MPI_Comm_free(&host);
  const auto available = static_cast<double>(available_memory());
  std::string error;
  if (needed > available) {
    error = fmt::format("out of memory: {} needs about {} on this node, {} are available", what,
                        bytes_text(needed), bytes_text(available));
  }
  agree(comm, error);
}

}  // namespace apps
