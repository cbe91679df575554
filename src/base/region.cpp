// SPDX-License-Identifier: BSD-3-Clause
#include "base/region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

#include "base/kernel_page.h"
#include "base/round.h"

// added in Linux 6.1; older C libraries do not define it
#if defined(__linux__) && !defined(MADV_COLLAPSE)
#define MADV_COLLAPSE 25
#endif

namespace nearcache {

bool Region::reserve(size_t bytes) {
  release();
  void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return false;
  base_ = base;
  bytes_ = bytes;
  if (make_accessible(base, bytes)) return true;
  release();
  return false;
}

// munlock: in a program that locks all future mappings (mlockall), the system would populate
// everything that becomes accessible, which here is most of a node's memory.
bool Region::make_accessible(void* from, size_t bytes) {
  munlock(from, bytes);
  return mprotect(from, bytes, PROT_READ | PROT_WRITE) == 0;
}

void Region::release() {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
  bytes_ = 0;
}

// Applies `advice` to the whole pages of `page` bytes inside [from, from + bytes).
static bool advise(void* from, size_t bytes, size_t page, int advice) {
  const auto first = round_up(reinterpret_cast<uintptr_t>(from), page);
  const auto last = round_down(reinterpret_cast<uintptr_t>(from) + bytes, page);
  return last <= first || madvise(reinterpret_cast<void*>(first), last - first, advice) == 0;
}

void Region::prefer_large_pages(void* from, size_t bytes) {
#ifdef MADV_HUGEPAGE
  advise(from, bytes, large_page, MADV_HUGEPAGE);
#endif
}

// Returns true if the administrator has disabled large pages.
[[maybe_unused]] static bool large_pages_are_refused() {
  char text[64] = {};
  const int file = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  return bytes <= 0 || std::string_view(text).find("[never]") != std::string_view::npos;
}

#ifdef MADV_COLLAPSE
// Reads a byte; not instrumented, as other threads or processes may be writing it.
[[gnu::no_sanitize_thread, gnu::noinline]] static void touch(uintptr_t at) {
  static_cast<void>(*reinterpret_cast<const volatile char*>(at));
}
#endif

bool Region::make_large_pages(void* from, size_t bytes) {
#ifdef MADV_COLLAPSE
  static const bool refused = large_pages_are_refused();
  if (refused) return false;
  // Linux 6.18 returns EINVAL for a range without any page: reading creates one.
  const auto first = round_up(reinterpret_cast<uintptr_t>(from), large_page);
  const auto end = reinterpret_cast<uintptr_t>(from) + bytes;
  for (uintptr_t at = first; at + large_page <= end; at += large_page) touch(at);
  return advise(from, bytes, large_page, MADV_COLLAPSE);
#else
  return false;
#endif
}

void* Region::reserve_addresses(size_t bytes) {
  void* const base = mmap(nullptr, bytes + large_page, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  auto* const first = static_cast<char*>(base);
  const size_t before = (large_page - reinterpret_cast<uintptr_t>(base) % large_page) % large_page;
  const size_t used = round_up(bytes, kernel_page());
  if (before != 0) munmap(first, before);
  if (before + used < bytes + large_page)
    munmap(first + before + used, bytes + large_page - before - used);
  return first + before;
}

// Shared memory must be removed from the file behind it (MADV_REMOVE): dropped from this process's
// mapping alone, it would be read back. MADV_REMOVE fails for private memory, which MADV_DONTNEED
// drops.
bool Region::discard(void* from, size_t bytes) {
  return advise(from, bytes, kernel_page(), MADV_REMOVE) ||
         advise(from, bytes, kernel_page(), MADV_DONTNEED);
}

}  // namespace nearcache
