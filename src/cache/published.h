// SPDX-License-Identifier: BSD-3-Clause

// Values that are written with a lock held and read without it.
//
// A thread without the lock that sees a published number also sees everything written before it was
// published. Bytes are read as under a sequence lock: whether they were the right ones is known
// only afterwards. This calls for std::atomic_load_per_byte_memcpy (C++ proposal P1478); until that
// exists, they are copied like any others. The thread sanitizer does not understand fences, so it
// gets atomic accesses instead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy.h"
#include "base/thread_sanitizer.h"

namespace nearcache {

// A number. Holders of the lock read it like any other.
template <class T>
class Published {
 public:
  Published() = default;
  constexpr Published(T value) : value_(value) {}
  Published(const Published&) = default;

  operator T() const { return value_; }
  T operator=(T value) {
    std::atomic_ref(value_).store(value, std::memory_order_release);
    return value;
  }
  Published& operator=(const Published& other) {
    *this = other.value_;
    return *this;
  }
  T operator&=(T bits) { return *this = value_ & bits; }
  T operator|=(T bits) { return *this = value_ | bits; }

  // Reads it without the lock.
  T load() const { return std::atomic_ref(value_).load(std::memory_order_acquire); }

 private:
  mutable T value_{};
};

#ifndef NEARCACHE_THREAD_SANITIZER

// Copies to bytes that other threads may be reading.
inline void store_bytes(void* to, const void* from, size_t bytes) { copy_bytes(to, from, bytes); }
// Copies from such bytes. If any byte read was stored after bytes_follow(), later loads see
// everything that was published before that call.
inline void load_bytes(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  std::atomic_thread_fence(std::memory_order_acquire);
}
inline void bytes_follow() { std::atomic_thread_fence(std::memory_order_release); }

#else

// Aligned whole words are copied as words.
template <class Unit>
void store_units(void* to, const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(Unit)) {
    Unit unit;
    std::memcpy(&unit, static_cast<const char*>(from) + at, sizeof unit);
    std::atomic_ref(*reinterpret_cast<Unit*>(static_cast<char*>(to) + at))
        .store(unit, std::memory_order_release);
  }
}
template <class Unit>
void load_units(void* to, const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(Unit)) {
    auto* place = const_cast<char*>(static_cast<const char*>(from)) + at;
    const Unit unit =
        std::atomic_ref(*reinterpret_cast<Unit*>(place)).load(std::memory_order_acquire);
    std::memcpy(static_cast<char*>(to) + at, &unit, sizeof unit);
  }
}
inline bool whole_words(const void* place, size_t bytes) {
  return (reinterpret_cast<uintptr_t>(place) | bytes) % sizeof(uint64_t) == 0;
}
inline void store_bytes(void* to, const void* from, size_t bytes) {
  whole_words(to, bytes) ? store_units<uint64_t>(to, from, bytes)
                         : store_units<char>(to, from, bytes);
}
inline void load_bytes(void* to, const void* from, size_t bytes) {
  whole_words(from, bytes) ? load_units<uint64_t>(to, from, bytes)
                           : load_units<char>(to, from, bytes);
}
inline void bytes_follow() {}

#endif

}  // namespace nearcache
