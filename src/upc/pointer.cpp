// SPDX-License-Identifier: BSD-3-Clause

// The plain functions behind the inline ones of pointers to shared.
#include "upc/internal.h"

#undef upc_threadof
#undef upc_phaseof
#undef upc_addrfield
#undef upc_resetphase

extern "C" {

size_t upc_threadof(ncupc_ptr p) { return ncupc_thread(p); }
size_t upc_phaseof(ncupc_ptr p) { return ncupc_phase(p); }
size_t upc_addrfield(ncupc_ptr p) { return static_cast<size_t>(ncupc_address(p)); }
ncupc_ptr upc_resetphase(ncupc_ptr p) { return ncupc_unphased(p); }

size_t upc_affinitysize(size_t total, size_t block, size_t thread) {
  const size_t threads = static_cast<size_t>(ncupc_threads);
  if (block == 0) return thread == 0 ? total : 0;
  const size_t row = block * threads;
  const size_t before = thread * block;  // in a row
  const size_t rest = total % row;
  const size_t last = rest <= before ? 0 : rest - before < block ? rest - before : block;
  return total / row * block + last;
}

}  // extern "C"
