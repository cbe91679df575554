#include "core/region.h"

#include <sys/mman.h>
#include <unistd.h>

namespace nearcache {

bool Region::reserve(size_t bytes) {
  release();
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return false;
  base_ = base;
  bytes_ = bytes;
  return true;
}

void Region::release() {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
  bytes_ = 0;
}

void Region::discard(void* from, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page;
  const auto last = (reinterpret_cast<uintptr_t>(from) + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace nearcache
