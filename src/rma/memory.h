// The memory of a window at its owner, and which part of it a request refers to. Only the owner
// knows base, size and unit, so no rank stores those of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace nearcache::rma {

class Memory {
 public:
  // It is there as long as the window.
  static Memory fixed(void* base, uint64_t size, int64_t unit);
  // The program's own, which it may take away or protect at any time.
  static Memory brought(void* base, uint64_t size, int64_t unit);
  // Displacements are addresses (MPI_BOTTOM plus so many bytes), within what is attached, which is
  // the program's own.
  static Memory dynamic() { return Memory(); }

  bool is_dynamic() const { return !fixed_; }
  // False: whoever touches it for others must expect that it is not there.
  bool is_certain() const { return certain_; }
  // Of a fixed one; no bytes of a dynamic one.
  std::byte* base() const { return reinterpret_cast<std::byte*>(base_); }
  uint64_t size() const { return size_; }
  int64_t unit() const { return unit_; }

  // False if it overlaps what is attached already.
  bool attach(void* base, uint64_t size);
  bool detach(const void* base);

  // Where [displacement * unit + offset, + length) lies; null if not all of it is in the window.
  // `first` and `second` are added up.
  std::byte* at(int64_t displacement, uint64_t first, int64_t second, uint64_t length) const;

 private:
  bool attached(uint64_t address, uint64_t length) const;

  bool fixed_ = false, certain_ = false;
  uint64_t base_ = 0, size_ = 0;
  int64_t unit_ = 1;
  std::map<uint64_t, uint64_t> regions_;  // of a dynamic window: the end of each by its beginning
};

}  // namespace nearcache::rma
