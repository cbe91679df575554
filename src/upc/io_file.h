// A file of upc_io.h, as this thread has it.
//
// The program's handle is a shared block with the same place at every thread, where each has a
// pointer to its own File; so the handle means the same to all. What is common to all threads
// (flags, the common file pointer) each keeps for itself, as every call is collective. Every call
// ends with a barrier that carries the greatest errno, so that all threads return alike.
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
  bool outstanding = false;  // an asynchronous operation has not been waited for
  upc_off_t result = 0;      // and what it returned
  int error = 0;

  bool common() const { return (flags & UPC_COMMON_FP) != 0; }
  bool strong() const { return (flags & UPC_STRONG_CA) != 0; }
  bool readable() const { return (flags & UPC_WRONLY) == 0; }
  bool writable() const { return (flags & UPC_RDONLY) == 0; }
};

// The file of a handle; an error of the program if it is none.
File& file_of(ncupc_ptr handle, const char* call);

// The end of a call: the same error on all threads. `error`: this thread's errno, or 0. True if
// there is none; else errno is set.
bool all_well(int error);

// For reading or writing as one: with strong semantics, a lock of the file while it lives. It waits
// without keeping others from what they ask of this thread.
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
