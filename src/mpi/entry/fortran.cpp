// SPDX-License-Identifier: BSD-3-Clause
#if defined(NEARCACHE_FAMILY_OPENMPI) || defined(NEARCACHE_FAMILY_MPICH)

#include "mpi/entry/fortran.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "base/log.h"

namespace nearcache::mpi::fortran {
namespace {

// Returns the addresses of a common block, under all names that compilers give it, and of an object
// of MPICH's. The whole program uses the first definition in symbol order.
std::array<const void*, 5> all_named(const std::string& common, const char* object) {
  std::string upper = common;
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c == '_' ? c : static_cast<char>(c - 'a' + 'A'); });
  std::array<const void*, 5> found{};
  const std::string names[] = {common + "_", common, common + "__", upper, object};
  // No variable of the program has a null address.
  for (size_t i = 0; i < found.size(); ++i) found[i] = dlsym(RTLD_DEFAULT, names[i].c_str());
  return found;
}

// Returns the address that Fortran passes for MPI_BOTTOM.
const void* find_bottom() {
  for (const char* name :
       {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"})
    if (const void* found = dlsym(RTLD_DEFAULT, name)) return found;
  return nullptr;
}

}  // namespace

void* address_in(const void* buffer) {
  static const void* const bottom = find_bottom();
  return buffer == bottom ? MPI_BOTTOM : const_cast<void*>(buffer);
}

void* receiving_address_in(const void* buffer) {
  static const auto in_place = all_named("mpi_fortran_in_place", "MPIR_F08_MPI_IN_PLACE");
  return std::ranges::find(in_place, buffer) != in_place.end() ? MPI_IN_PLACE : address_in(buffer);
}

void* fortran_symbol(const char* name) {
  void* found = next_symbol(name);
  if (!found)
    log(LogLevel::warning,
        "the Fortran library of this MPI has no %s, which the program calls: the call fails", name);
  return found;
}

bool status_ignored(const MPI_Fint* status) {
  static const auto ignored =
      all_named("mpi_fortran_status_ignore", "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  return std::ranges::find(ignored, status) != ignored.end();
}

bool statuses_ignored(const MPI_Fint* statuses) {
  static const auto ignored =
      all_named("mpi_fortran_statuses_ignore", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
  return std::ranges::find(ignored, statuses) != ignored.end();
}

int predefined_keyval(MPI_Fint keyval) {
#ifdef NEARCACHE_FAMILY_MPICH
  keyval -= 1;  // Fortran's and C's constants differ by 1
#endif
  for (const int known :
       {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL})
    if (keyval == known) return known;
  return MPI_KEYVAL_INVALID;
}

MPI_Aint predefined_value(int keyval, const void* value) {
  if (keyval == MPI_WIN_BASE) return reinterpret_cast<MPI_Aint>(value);
  return keyval == MPI_WIN_SIZE ? *static_cast<const MPI_Aint*>(value)
                                : *static_cast<const int*>(value);
}

}  // namespace nearcache::mpi::fortran

#endif
