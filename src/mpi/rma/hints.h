// SPDX-License-Identifier: BSD-3-Clause

// The info keys of a window that the standard defines (MPI-4.1, 12.2.1), with their defaults. The
// window of the host behind the handle cannot answer for them: it has memory of another kind, and
// some hosts accept the keys only when a window is created. The engine needs none of them: it
// orders accumulates, makes them atomic for all operations, and keeps no sizes or units of others.
#pragma once

#include <array>
#include <string>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Hints {
 public:
  // Takes over the keys with allowed values; others are ignored. To be called before the host gets
  // to see them: MPICH 4.0 cuts off lists in the program's info as it reads them.
  void take(MPI_Info info);
  // Writes all of them. Returns an error code of the host.
  int write_to(MPI_Info info) const;

 private:
  std::array<std::string, 5> values_{"false", "rar,raw,war,waw", "same_op_no_op", "false", "false"};
};

}  // namespace nearcache::mpi
