// SPDX-License-Identifier: BSD-3-Clause

// During its lifetime, this thread's calls of the library do not order its cached accesses: the
// runtime itself calls release() and acquire() where UPC requires them, and a relaxed atomic or an
// access to a lock's word leaves the cache alone. Meant for single calls, so that OpenSHMEM calls
// in the program's own C code keep their meaning.
#pragma once

#include "nearcache/shmem.h"
#include "upc/internal.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

class Unordered {
 public:
  Unordered() : before_(ncupc_caching ? nearcache_shmem_set_unordered(1) : 0) {}
  ~Unordered() {
    if (ncupc_caching) nearcache_shmem_set_unordered(before_);
  }
  Unordered(const Unordered&) = delete;
  Unordered& operator=(const Unordered&) = delete;

 private:
  int before_;
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
