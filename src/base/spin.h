// SPDX-License-Identifier: BSD-3-Clause

// One iteration of a loop that waits for another processor's store.
#pragma once

namespace nearcache {

// Yields the core to its other hardware threads for a moment, and saves power.
inline void relax_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on many cores
#endif
}

}  // namespace nearcache
