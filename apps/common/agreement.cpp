// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.h"

#include <climits>

#include <fmt/core.h>

namespace apps {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Failure(fmt::format("{} failed: {}", call, text));
}

void agree(MPI_Comm comm, const std::string& error) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int mine = error.empty() ? INT_MAX : rank;
  int reporter = INT_MAX;
  check(MPI_Allreduce(&mine, &reporter, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (reporter == INT_MAX) return;
  throw Agreed{rank == reporter ? error : std::string()};
}

}  // namespace apps
