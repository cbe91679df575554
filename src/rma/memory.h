// SPDX-License-Identifier: BSD-3-Clause

// The memory of a window at its owner, and which part of it a request refers to. Only the owner
// needs to know base, size and displacement unit, so far ranks need not store them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace nearcache::rma {

class Memory {
 public:
  // Memory that exists as long as the window.
  static Memory fixed(void* base, uint64_t size, int64_t unit);
  // The program's own memory, which it may unmap or protect at any time.
  static Memory brought(void* base, uint64_t size, int64_t unit);
  // A dynamic window: displacements are addresses (MPI_BOTTOM plus as many bytes) in attached
  // memory, which is the program's own.
  static Memory dynamic() { return Memory(); }

  bool is_dynamic() const { return !fixed_; }
  // If false, the memory may be missing when it is accessed on behalf of others.
  bool is_certain() const { return certain_; }
  // Of fixed memory; a dynamic window has size 0.
  std::byte* base() const { return reinterpret_cast<std::byte*>(base_); }
  uint64_t size() const { return size_; }
  int64_t unit() const { return unit_; }

  // Returns false if the memory overlaps what is attached already.
  bool attach(void* base, uint64_t size);
  bool detach(const void* base);

  // Returns the address of `length` bytes at displacement * unit + first + second, or null if not
  // all of them are in the window.
  std::byte* at(int64_t displacement, uint64_t first, int64_t second, uint64_t length) const;

 private:
  bool attached(uint64_t address, uint64_t length) const;

  uint64_t base_ = 0, size_ = 0;
  int64_t unit_ = 1;
  std::unique_ptr<std::map<uint64_t, uint64_t>> regions_;  // once attached: ends by beginnings
  bool fixed_ = false, certain_ = false;
};

}  // namespace nearcache::rma
