// SPDX-License-Identifier: BSD-3-Clause

// This thread's view of a file of upc_io.h.
//
// The program's handle is a shared block at the same offset on every thread, where each keeps a
// pointer to its own File; so the handle means the same to all. Each thread has its own copy of
// what they have in common (flags, the common file pointer), as every call is collective. Every
// call ends with a barrier that carries the largest errno, so that all threads return the same.
#pragma once

#include <sys/types.h>

#include "upc/internal.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct File {
  int descriptor = -1;
  int flags = 0;
  upc_off_t place = 0;  // the file pointer
  char* name = nullptr;
  upc_hint* hints = nullptr;
  size_t number_of_hints = 0;
  bool outstanding = false;  // an asynchronous operation has not been waited for;
  upc_off_t result = 0;      // its result
  int error = 0;

  bool common() const { return (flags & UPC_COMMON_FP) != 0; }
  bool strong() const { return (flags & UPC_STRONG_CA) != 0; }
  bool readable() const { return (flags & UPC_WRONLY) == 0; }
  bool writable() const { return (flags & UPC_RDONLY) == 0; }
};

// The file of a handle; an invalid handle is an error of the program.
File& file_of(ncupc_ptr handle, const char* call);

// Ends a call by agreeing on an error. `error` is this thread's errno, or 0. Returns true if no
// thread has one, otherwise sets errno, to the same on all threads.
bool all_well(int error);

// Makes a read or write atomic: with strong semantics, it holds a lock of the file during its
// lifetime. While waiting for the lock, this thread goes on serving others' requests.
class AtomicPart {
 public:
  AtomicPart(const File& file, bool writes);
  ~AtomicPart();
  AtomicPart(const AtomicPart&) = delete;
  AtomicPart& operator=(const AtomicPart&) = delete;

 private:
  int locked_ = -1;
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
