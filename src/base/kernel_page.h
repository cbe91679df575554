// SPDX-License-Identifier: BSD-3-Clause

// The size of the kernel's pages: the unit of protection, of mappings and of memory that is given
// back. (A plain "page" is often one of the page cache, whose size is an option.)
#pragma once

#include <unistd.h>

#include <cstdint>

namespace nearcache {

inline uint64_t kernel_page() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace nearcache
