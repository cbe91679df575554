// SPDX-License-Identifier: BSD-3-Clause

// upc_prefetch, by the prefetch of the cache below.
#include "nearcache/shmem.h"
#include "upc/internal.h"

extern "C" {

void upc_prefetch(ncupc_ptr from, size_t bytes) {
  if (bytes == 0 || ncupc_is_null(from) || ncupc_reach(from) != nullptr) return;
  nearcache_shmem_prefetch(nearcache::upc::runtime.arena + ncupc_address(from), bytes,
                           static_cast<int>(ncupc_thread(from)));
}

}  // extern "C"
