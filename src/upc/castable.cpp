// SPDX-License-Identifier: BSD-3-Clause

// upc_castable.h: memory within reach of loads and stores. A thread's part of the arena is within
// reach as a whole or not at all.
#include "upc/internal.h"

extern "C" {

void* upc_cast(ncupc_ptr p) { return ncupc_local(p); }

upc_thread_info_t upc_thread_info(size_t thread) {
  if (thread >= static_cast<size_t>(ncupc_threads)) {
    ncupc_error(nullptr, 0, "upc_thread_info", "there is no thread %zu among %d", thread,
                ncupc_threads);
  }
  const int all = ncupc_near[thread] != nullptr ? UPC_CASTABLE_ALL : 0;
  return {all, all};
}

}  // extern "C"
