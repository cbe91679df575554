// SPDX-License-Identifier: BSD-3-Clause

// Converts a handle of the library below to a 64-bit key, whether it is a number or a pointer.
#pragma once

#include <cstdint>
#include <cstring>

namespace nearcache {

template <class Handle>
uint64_t handle_bits(Handle handle) {
  static_assert(sizeof handle <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &handle, sizeof handle);
  return bits;
}

}  // namespace nearcache
