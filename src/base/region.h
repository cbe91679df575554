// One contiguous piece of address space that holds all state of an engine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearcache {

// Reserves address space; memory is taken from the system only as it is touched. Move-only.
class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  Region(Region&& other) noexcept : base_(other.base_), bytes_(other.bytes_) {
    other.base_ = nullptr;
  }
  ~Region() { release(); }

  // Reserves `bytes`, zero when first read. False when the system refuses.
  bool reserve(size_t bytes);
  void release();

  void* base() const { return base_; }
  size_t bytes() const { return bytes_; }

  // Lets the system back [from, from + bytes) with large pages where whole ones lie in it: one
  // fault instead of 512, and fewer misses of the address translation. Without effect where the
  // system has none to give.
  static void prefer_large_pages(void* from, size_t bytes);
  static constexpr size_t large_page = 2 << 20;
  // Backs [from, from + bytes) with large pages now, where whole ones lie in it, and keeps what
  // is there; for memory that processes share, of which most systems give small pages only until
  // they are told (shmem_enabled is `never`). False where that cannot be had.
  static bool make_large_pages(void* from, size_t bytes);

  // Addresses for so many bytes, from a large page's boundary on, with nothing behind them yet: to
  // be mapped over. Null when the system refuses.
  static void* reserve_addresses(size_t bytes);
  // Lets mapped addresses be read and written that could not be so far. False when the system
  // refuses.
  static bool make_accessible(void* from, size_t bytes);

  // Gives the memory behind whole pages inside [from, from + bytes) back; it reads as zero
  // afterwards, for all processes that share it. False where the system refuses: it may be as it
  // was.
  static bool discard(void* from, size_t bytes);

 private:
  void* base_ = nullptr;
  size_t bytes_ = 0;
};

// A pointer kept as the distance from itself, so that a region may be mapped at another address.
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
