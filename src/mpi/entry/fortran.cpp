#if defined(NEARCACHE_FAMILY_OPENMPI) || defined(NEARCACHE_FAMILY_MPICH)

#include "mpi/entry/fortran.h"

#include <dlfcn.h>

#include "base/log.h"

namespace nearcache::mpi::fortran {
namespace {

// A common block: the first definition in the program's symbol order is the one that all of it uses.
const void* find_bottom() {
  for (const char* name : {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"})
    if (const void* found = dlsym(RTLD_DEFAULT, name)) return found;
  return nullptr;
}

}  // namespace

void* address_in(const void* buffer) {
  static const void* const bottom = find_bottom();
  return buffer == bottom ? MPI_BOTTOM : const_cast<void*>(buffer);
}

void* fortran_symbol(const char* name) {
  void* found = next_symbol(name);
  if (!found)
    log(LogLevel::warning, "the Fortran library of this MPI has no %s, which the program calls: the call fails", name);
  return found;
}

FortranRequests::FortranRequests(int count, const MPI_Fint* requests)
    : count_(count), requests_(requests), watch_(count, converted().data()) {}

std::vector<MPI_Request> FortranRequests::converted() const {
  std::vector<MPI_Request> handles(count_ > 0 ? count_ : 0);
  for (size_t i = 0; i < handles.size(); i++) handles[i] = request_in(requests_ + i);
  return handles;
}

void FortranRequests::completed(int code) { watch_.completed(code, converted().data()); }

}  // namespace nearcache::mpi::fortran

#endif
