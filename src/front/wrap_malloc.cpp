// SPDX-License-Identifier: BSD-3-Clause

// In a preloaded object, malloc and its relatives are redirected to private_heap.h (ld --wrap).
// Blocks that libc or the program allocated are passed to the original functions.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/private_heap.h"

namespace heap = nearcache::private_heap;

// An allocation that fails ends the process, by an exception that does not say whose it was.
static void* told(void* found, size_t bytes) {
  if (found != nullptr || bytes == 0) return found;
  log(nearcache::LogLevel::warning, "out of memory: the system refuses %zu bytes", bytes);
  errno = ENOMEM;
  return nullptr;
}

// The names are dictated by ld --wrap.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void* __real_malloc(size_t bytes);
void* __real_realloc(void* block, size_t bytes);
void* __real_aligned_alloc(size_t align, size_t bytes);
void __real_free(void* block);

void* __wrap_malloc(size_t bytes) {
  void* found = heap::allocate(bytes);
  return found != nullptr ? found : told(__real_malloc(bytes), bytes);
}

void* __wrap_realloc(void* block, size_t bytes) {
  if (block == nullptr) return __wrap_malloc(bytes);
  if (!heap::owns(block)) return told(__real_realloc(block, bytes), bytes);
  const size_t has = heap::usable_bytes(block);
  if (bytes <= has && bytes >= has / 2) return block;
  void* found = __wrap_malloc(bytes);
  if (found == nullptr) return nullptr;
  std::memcpy(found, block, bytes < has ? bytes : has);
  heap::release(block);
  return found;
}

void* __wrap_aligned_alloc(size_t align, size_t bytes) {
  void* found = heap::allocate(bytes, align);
  return found != nullptr ? found : told(__real_aligned_alloc(align, bytes), bytes);
}

void __wrap_free(void* block) {
  if (heap::owns(block)) return heap::release(block);
  __real_free(block);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
