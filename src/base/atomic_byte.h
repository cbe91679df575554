// SPDX-License-Identifier: BSD-3-Clause

// Comparing an atomic byte with a constant. Compilers load an atomic byte into a register before
// they compare it; on x86 one instruction can do both, which counts on the fast path of a call.
#pragma once

#include <atomic>

namespace nearcache {

// Returns true if `byte` has the value; a relaxed load.
template <auto value, class Byte>
[[gnu::always_inline]] inline bool equals(const std::atomic<Byte>& byte) {
  static_assert(sizeof(byte) == 1);
#ifdef __x86_64__
  bool same;
  asm volatile("cmpb %2, %1"
               : "=@cce"(same)
               : "m"(reinterpret_cast<const char&>(byte)), "i"(static_cast<int>(value)));
  return same;
#else
  return byte.load(std::memory_order_relaxed) == value;
#endif
}

}  // namespace nearcache
