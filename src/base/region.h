// SPDX-License-Identifier: BSD-3-Clause

// One contiguous range of address space that holds the whole state of an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nearcache {

// Reserves address space; physical memory is allocated only when it is touched. Move-only.
class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  Region(Region&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Region& operator=(Region&& other) noexcept {
    release();
    base_ = std::exchange(other.base_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~Region() { release(); }

  // Reserves `bytes` bytes, which read as zero at first. Returns false if the system refuses.
  bool reserve(size_t bytes);
  void release();

  void* base() const { return base_; }
  size_t bytes() const { return bytes_; }

  // Allows the system to back [from, from + bytes) with large pages where whole ones fit: one fault
  // instead of 512, and fewer TLB misses. Has no effect if the system has no large pages to give.
  static void prefer_large_pages(void* from, size_t bytes);
  static constexpr size_t large_page = 2 << 20;
  // Backs [from, from + bytes) with large pages now, where whole ones fit, and keeps the contents.
  // Meant for memory shared between processes, for which most systems use small pages unless asked
  // (shmem_enabled is `never`). Returns false if that is not possible.
  static bool make_large_pages(void* from, size_t bytes);

  // Reserves this many bytes of address space, aligned to a large page and inaccessible, to be
  // mapped over. Returns null if the system refuses.
  static void* reserve_addresses(size_t bytes);
  // Makes mapped but inaccessible addresses readable and writable. Returns false if the system
  // refuses.
  static bool make_accessible(void* from, size_t bytes);

  // Gives the memory of the whole pages inside [from, from + bytes) back to the system. They read
  // as zero afterwards, in all processes that share them. If the system refuses, returns false, and
  // the contents may be unchanged.
  static bool discard(void* from, size_t bytes);

 private:
  void* base_ = nullptr;
  size_t bytes_ = 0;
};

// A pointer stored as its distance from itself, so that a region may be mapped at any address.
template <class T>
class Relative {
 public:
  void set(T* target) {
    distance_ = static_cast<ptrdiff_t>(reinterpret_cast<intptr_t>(target) -
                                       reinterpret_cast<intptr_t>(this));
  }
  T* get() const { return reinterpret_cast<T*>(reinterpret_cast<intptr_t>(this) + distance_); }
  T& operator[](size_t i) const { return get()[i]; }

 private:
  ptrdiff_t distance_ = 0;
};

}  // namespace nearcache
