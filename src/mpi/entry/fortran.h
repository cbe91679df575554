// What the generated Fortran entry points share (fortran.gen.cpp, made by generate_fortran.py, says which there are).
//
// MPI's Fortran bindings escape a library that interposes on C only:
//   Open MPI   mpif.h, mpi and mpi_f08 all end in PMPI_X. Every row has Fortran entry points here. Buffers come as plain
//              addresses, handles of all three bindings as pointers to one INTEGER, ierror may be absent (null).
//   MPICH      mpif.h, mpi and the calls with buffers of mpi_f08 end in MPI_X, which we see. The other calls of
//              mpi_f08 end in PMPI_X: those have entry points here.
//   ABI        its bindings are not known yet: a window made through one is not cached (visibility.h).
// A window call converts its arguments and enters our C function. Any other call goes to the next Fortran symbol as it came; then it is noted
// as an acquire, and tracked requests are looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/entry/hooks.h"
#include "mpi/process/next.h"

namespace nearcache::mpi::fortran {

// An argument that is passed on untouched: an address, or a hidden string length.
using Word = void*;

#ifdef NEARCACHE_FAMILY_OPENMPI
inline MPI_Comm comm_in(const MPI_Fint* handle) { return next.Comm_f2c(*handle); }
inline MPI_Group group_in(const MPI_Fint* handle) { return next.Group_f2c(*handle); }
inline MPI_Info info_in(const MPI_Fint* handle) { return next.Info_f2c(*handle); }
inline MPI_Op op_in(const MPI_Fint* handle) { return next.Op_f2c(*handle); }
inline MPI_Datatype datatype_in(const MPI_Fint* handle) { return next.Type_f2c(*handle); }
inline MPI_Win win_in(const MPI_Fint* handle) { return next.Win_f2c(*handle); }
inline MPI_Request request_in(const MPI_Fint* handle) { return next.Request_f2c(*handle); }
inline MPI_Fint win_out(MPI_Win win) { return next.Win_c2f(win); }
inline MPI_Fint request_out(MPI_Request request) { return next.Request_c2f(request); }
#elif defined(NEARCACHE_FAMILY_MPICH)
inline MPI_Comm comm_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Group group_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Info info_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Win win_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Request request_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Fint win_out(MPI_Win win) { return win; }
#endif

// A buffer's address: MPI_BOTTOM is an object's address in Fortran, and null in C.
void* address_in(const void* buffer);

// Whether an output flag or count tells that something is complete. What .true. is differs between compilers: 1 or -1.
inline bool fortran_tells(const MPI_Fint* output) { return *output != 0 && *output != MPI_UNDEFINED; }
// The same after a call that may have failed (see the C wrappers).
inline bool fortran_says_done(int code, const MPI_Fint* output) { return code != MPI_SUCCESS || fortran_tells(output); }

inline void set_error(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

// The next symbol of this name behind us; says so, once per name, if there is none.
void* fortran_symbol(const char* name);

// Requests of a Fortran call, before and after it.
class FortranRequests {
 public:
  FortranRequests(int count, const MPI_Fint* requests);
  void completed(int code);
  RequestWatch& watch() { return watch_; }

 private:
  std::vector<MPI_Request> converted() const;
  int count_;
  const MPI_Fint* requests_;
  RequestWatch watch_;
};

}  // namespace nearcache::mpi::fortran
