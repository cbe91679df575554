// What the generated Fortran entry points share (fortran.gen.cpp, made by generate_fortran.py, says
// which there are).
//
// MPI's Fortran bindings escape a library that interposes on C only:
//   Open MPI   mpif.h, mpi and mpi_f08 all end in PMPI_X. Every row has Fortran entry points here.
//              Buffers come as plain addresses, handles of all three bindings as pointers to one
//              INTEGER, ierror may be absent (null).
//   MPICH      mpif.h, mpi and the calls with buffers of mpi_f08 end in MPI_X, which we see. The
//              other calls of mpi_f08 end in PMPI_X: those have entry points here.
//   ABI        its bindings are not known yet: a window made through one is not cached
//              (visibility.h).
// A call of windows or requests converts its arguments and enters our C function, and so goes
// through the layers below like any other. The rest goes to the next Fortran symbol as it came, and
// is noted as an acquire then.
#pragma once

#include <array>
#include <cstring>
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
inline MPI_Errhandler errhandler_in(const MPI_Fint* handle) { return next.Errhandler_f2c(*handle); }
inline MPI_Fint win_out(MPI_Win win) { return next.Win_c2f(win); }
inline MPI_Fint request_out(MPI_Request request) { return next.Request_c2f(request); }
inline MPI_Fint group_out(MPI_Group group) { return next.Group_c2f(group); }
inline MPI_Fint info_out(MPI_Info info) { return next.Info_c2f(info); }
inline MPI_Fint errhandler_out(MPI_Errhandler errhandler) {
  return next.Errhandler_c2f(errhandler);
}
#ifdef NEARCACHE_HAS_Session_init
inline MPI_Session session_in(const MPI_Fint* handle) { return next.Session_f2c(*handle); }
inline MPI_Fint session_out(MPI_Session session) { return next.Session_c2f(session); }
#endif
#elif defined(NEARCACHE_FAMILY_MPICH)
inline MPI_Comm comm_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Group group_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Info info_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Win win_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Request request_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Errhandler errhandler_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Fint win_out(MPI_Win win) { return win; }
inline MPI_Fint request_out(MPI_Request request) { return request; }
inline MPI_Fint group_out(MPI_Group group) { return group; }
inline MPI_Fint info_out(MPI_Info info) { return info; }
inline MPI_Fint errhandler_out(MPI_Errhandler errhandler) { return errhandler; }
#ifdef NEARCACHE_HAS_Session_init
inline MPI_Session session_in(const MPI_Fint* handle) { return *handle; }
inline MPI_Fint session_out(MPI_Session session) { return session; }
#endif
#endif

// A buffer's address: MPI_BOTTOM is an object's address in Fortran, and null in C.
void* address_in(const void* buffer);

// The same of a buffer of a call that need not be of windows: MPI_IN_PLACE is such an object too.
void* receiving_address_in(const void* buffer);

// Whether an output flag or count tells that something is complete. What .true. is differs between
// compilers: 1 or -1.
inline bool fortran_tells(const MPI_Fint* output) {
  return *output != 0 && *output != MPI_UNDEFINED;
}
// The same after a call that may have failed (see the C wrappers).
inline bool fortran_says_done(int code, const MPI_Fint* output) {
  return code != MPI_SUCCESS || fortran_tells(output);
}

inline void set_error(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

// The next symbol of this name behind us; says so, once per name, if there is none.
void* fortran_symbol(const char* name);

// Indices count from one.
inline MPI_Fint index_out(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

// Whether this is MPI_STATUS_IGNORE, or MPI_STATUSES_IGNORE.
bool status_ignored(const MPI_Fint* status);
bool statuses_ignored(const MPI_Fint* statuses);

// The C name of an attribute that every window has, MPI_KEYVAL_INVALID for the program's own; and
// its value, of what C gives.
int predefined_keyval(MPI_Fint keyval);
MPI_Aint predefined_value(int keyval, const void* value);

// Room for the C arguments of a call; most calls have few.
template <class T>
class Arguments {
 public:
  explicit Arguments(int count)
      : many_(count > static_cast<int>(few_.size()) ? static_cast<size_t>(count) : 0) {}
  T* data() { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<T, 4> few_;
  std::vector<T> many_;
};

// Requests of a call: what it changes is changed in the program's variables at the end.
class Requests {
 public:
  Requests(MPI_Fint* requests, int count)
      : fortran_(requests), count_(count), before_(count), requests_(count) {
    for (int i = 0; i < count_; ++i)
      before_.data()[i] = requests_.data()[i] = request_in(fortran_ + i);
  }
  ~Requests() {
    for (int i = 0; i < count_; ++i) {
      if (requests_.data()[i] != before_.data()[i]) fortran_[i] = request_out(requests_.data()[i]);
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  MPI_Request* data() { return requests_.data(); }

 private:
  MPI_Fint* fortran_;
  int count_;
  Arguments<MPI_Request> before_, requests_;
};

// Statuses of a call. In both libraries they are the same words in C and in Fortran, of which C may
// want another alignment.
class Statuses {
 public:
  Statuses(MPI_Fint* statuses, int count, bool ignored)
      : fortran_(statuses), count_(ignored ? -1 : count), statuses_(ignored ? 0 : count) {
    if (count_ > 0)
      std::memcpy(static_cast<void*>(statuses_.data()), fortran_,
                  static_cast<size_t>(count_) * sizeof(MPI_Status));
  }
  ~Statuses() {
    if (count_ > 0)
      std::memcpy(fortran_, statuses_.data(), static_cast<size_t>(count_) * sizeof(MPI_Status));
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  MPI_Status* data() { return count_ < 0 ? MPI_STATUS_IGNORE : statuses_.data(); }

 private:
  MPI_Fint* fortran_;
  int count_;
  Arguments<MPI_Status> statuses_;
};
static_assert(sizeof(MPI_Fint) == sizeof(int));  // NOLINT(misc-redundant-expression)

}  // namespace nearcache::mpi::fortran
