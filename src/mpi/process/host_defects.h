// Known defects of the program's MPI, by its version: host_defects.def has the
// rows.
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

  // Of the library that says `version` of itself (MPI_Get_library_version). One that is derived
  // from MPICH has numbers of its own: it counts as having what no release of MPICH is known to be
  // without. An unknown library has none.
  explicit HostDefects(std::string_view version);

  bool has(HostDefect defect) const { return (bits_ >> static_cast<unsigned>(defect) & 1) != 0; }

 private:
  uint32_t bits_ = 0;
};

}  // namespace nearcache::mpi
