// Copies between the storage and the program's buffers, which never overlap.
//
// glibc copies more than 2 KiB by `rep movsb` where the processor advertises it. On Zen 3 that
// takes 20 times as long while the destination lies 1 to 31 bytes further into its page than the
// source (4 KiB: 1.4 us instead of 70 ns), and half as long again at all other distances as a loop
// over vectors (4 KiB: 45 to 70 ns). Storage and buffers lie anywhere: large copies are such a
// loop.
#pragma once

#include <cstddef>
#include <cstring>

namespace nearcache {

// bytes from which the call and the choice cost nothing that shows
inline constexpr size_t large_copy = 1024;

void copy_large(void* to, const void* from, size_t bytes);

inline void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes < large_copy) {
    std::memcpy(to, from, bytes);
  } else {
    copy_large(to, from, bytes);
  }
}

// The same to where nobody will read soon: past the processor's caches, which neither fetch what is
// overwritten nor lose what the program works on. Readers on other processors need what any other
// copy needs.
void copy_aside(void* to, const void* from, size_t bytes);

}  // namespace nearcache
