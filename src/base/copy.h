// SPDX-License-Identifier: BSD-3-Clause

// Copies between the cache's storage and the program's buffers, which never overlap.
//
// glibc copies more than 2 KiB with `rep movsb` if the processor advertises it. On Zen 3,
// that is 20 times slower if the destination's offset within its page exceeds the source's by 1 to
// 31 bytes (4 KiB: 1.4 us instead of 70 ns), and at all other offsets it still takes half as long
// again as a vector loop (4 KiB: 70 ns instead of 45 ns). Since storage and buffers may have any
// alignment, large copies use a vector loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nearcache {

// in bytes; from this size on, the cost of the call and the dispatch is negligible
inline constexpr size_t large_copy = 1024;

void copy_large(void* to, const void* from, size_t bytes);

inline void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes < large_copy) {
    std::memcpy(to, from, bytes);
  } else {
    copy_large(to, from, bytes);
  }
}

// Like copy_bytes(), without a call for the most frequent size of all.
[[gnu::always_inline]] inline void copy_word_or_bytes(void* to, const void* from, size_t bytes) {
  if (bytes == sizeof(uint64_t)) {
    std::memcpy(to, from, sizeof(uint64_t));
  } else {
    copy_bytes(to, from, bytes);
  }
}

// Like copy_bytes(), but for a destination that will not be read soon: bypasses the processor's
// caches, so the old contents are not fetched and the program's working set is not evicted. Readers
// on other processors need the same synchronisation as after any other copy.
void copy_aside(void* to, const void* from, size_t bytes);

}  // namespace nearcache
