// SPDX-License-Identifier: BSD-3-Clause
#include "base/copy.h"

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nearcache {

#if defined(__x86_64__)
namespace {

const bool has_avx2 = (__builtin_cpu_init(), __builtin_cpu_supports("avx2") != 0);

enum class Store { cached, aside };

using Vector = __m256i;
// All loads of a block precede its stores, so that they need not wait for them. The values are in
// separate variables because GCC keeps an array of vectors on the stack.
constexpr size_t block = 8 * sizeof(Vector);

[[gnu::target("avx2"), gnu::always_inline]] inline Vector load(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from));
}

[[gnu::target("avx2"), gnu::always_inline]] inline void store(std::byte* to, Vector value) {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(to), value);
}

template <Store how>
[[gnu::target("avx2"), gnu::always_inline]] inline void store_aligned(std::byte* to, Vector value) {
  if constexpr (how == Store::aside) {
    _mm256_stream_si256(reinterpret_cast<Vector*>(to), value);
  } else {
    _mm256_store_si256(reinterpret_cast<Vector*>(to), value);
  }
}

// pre: bytes >= sizeof(Vector). All stores are to whole aligned vectors except the first and the
// last, which overlap their neighbours.
template <Store how>
[[gnu::target("avx2"), gnu::always_inline]] inline void copy_vectors(std::byte* to,
                                                                     const std::byte* from,
                                                                     size_t bytes) {
  std::byte* const end = to + bytes;
  const std::byte* const last = from + bytes - sizeof(Vector);
  store(to, load(from));
  const size_t skipped = -reinterpret_cast<uintptr_t>(to) % sizeof(Vector);
  to += skipped;
  from += skipped;
  for (; static_cast<size_t>(end - to) >= block; from += block, to += block) {
    const Vector v0 = load(from), v1 = load(from + 32), v2 = load(from + 64), v3 = load(from + 96);
    const Vector v4 = load(from + 128), v5 = load(from + 160), v6 = load(from + 192),
                 v7 = load(from + 224);
    store_aligned<how>(to, v0), store_aligned<how>(to + 32, v1), store_aligned<how>(to + 64, v2),
        store_aligned<how>(to + 96, v3);
    store_aligned<how>(to + 128, v4), store_aligned<how>(to + 160, v5),
        store_aligned<how>(to + 192, v6), store_aligned<how>(to + 224, v7);
  }
  for (; from < last; from += sizeof(Vector), to += sizeof(Vector))
    store_aligned<how>(to, load(from));
  store(end - sizeof(Vector), load(last));
}

[[gnu::target("avx2")]] void copy_avx2(std::byte* to, const std::byte* from, size_t bytes) {
  copy_vectors<Store::cached>(to, from, bytes);
}

[[gnu::target("avx2")]] void copy_aside_avx2(std::byte* to, const std::byte* from, size_t bytes) {
  copy_vectors<Store::aside>(to, from, bytes);
  _mm_sfence();  // streaming stores are not ordered by anything else
}

}  // namespace

void copy_large(void* to, const void* from, size_t bytes) {
  if (has_avx2 && bytes >= sizeof(Vector)) {
    copy_avx2(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

void copy_aside(void* to, const void* from, size_t bytes) {
  if (has_avx2 && bytes >= sizeof(Vector)) {
    copy_aside_avx2(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}
#else
void copy_large(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void copy_aside(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace nearcache
