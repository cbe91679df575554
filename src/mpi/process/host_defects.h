// SPDX-License-Identifier: BSD-3-Clause

// Known defects of the program's MPI, by its version; host_defects.def lists them.
#pragma once

#include <cstdint>
#include <string_view>

namespace nearcache::mpi {

enum class HostDefect : uint8_t {
#define NEARCACHE_HOST_DEFECT(name, library, first, last, what, answer) name,
#include "mpi/process/host_defects.def"
#undef NEARCACHE_HOST_DEFECT
};

class HostDefects {
 public:
  HostDefects() = default;

  // The defects of the library whose MPI_Get_library_version returns `version`. Libraries derived
  // from MPICH have version numbers of their own: they are assumed to have every defect that no
  // MPICH release is known to be free of. An unknown library has none.
  explicit HostDefects(std::string_view version);

  bool has(HostDefect defect) const { return (bits_ >> static_cast<unsigned>(defect) & 1) != 0; }

 private:
  uint32_t bits_ = 0;
};

}  // namespace nearcache::mpi
