// SPDX-License-Identifier: BSD-3-Clause

// The symmetric heap where loads and stores reach that of every PE (shmem_ptr): gets and puts
// through the default context are loads and stores then, while nothing is cached, nobody watches
// and no other thread makes calls.
//
// Stores need no fence or quiet of the library to be in order with each other. But they would
// overtake what the library itself has been given to write, which may be on its way. So after such
// a write all calls go to the library until the next quiet or barrier has completed it. One get in
// 32, or in 128 KiB, goes there as well, because a program may be waiting for a PE that needs this
// one's progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cache/page/page_transport.h"

namespace nearcache::shmem {

class NearHeap {
 public:
  // `offsets`: where each PE's heap is mapped, relative to this PE's.
  void open(const Extent& heap, const std::vector<int64_t>& offsets) {
    begin_ = heap.begin;
    all_ = heap.end - heap.begin;
    pes_ = offsets.size();
    delete[] offsets_;
    offsets_ = new int64_t[pes_];  // never destroyed: others' exit handlers may make calls
    std::copy(offsets.begin(), offsets.end(), offsets_);
    bytes_ = held_ ? 0 : all_;
  }
  void close() { bytes_ = all_ = 0; }
  // The library is given something to write. let_go(): it has completed that. While the heap is
  // closed, as it is where there are threads, these change nothing that is not atomic.
  void hold() {
    held_.store(true, std::memory_order_relaxed);
    if (bytes_ != 0) bytes_ = 0;
  }
  void let_go() {
    held_.store(false, std::memory_order_relaxed);
    if (bytes_ != all_) bytes_ = all_;
  }

  // Whether there is such memory, held or not.
  bool has(const void* object, size_t bytes, int pe) const {
    return bytes != 0 && within(all_, object, bytes, pe);
  }

  // Return false if the call must be passed on. `bytes` > 0.
  [[gnu::always_inline]] bool get(void* to, const void* from, size_t bytes, int pe) {
    const std::byte* const there = find(from, bytes, pe);
    if (there == nullptr) [[unlikely]]
      return false;
    until_progress_ -= 1 + static_cast<int64_t>(bytes / bytes_that_count);
    if (until_progress_ <= 0) [[unlikely]] {
      until_progress_ = gets_between_progress;
      return false;
    }
    ++gets_, get_bytes_ += bytes;
    std::memmove(to, there, bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }
  [[gnu::always_inline]] bool put(void* to, const void* from, size_t bytes, int pe) {
    std::byte* const there = find(to, bytes, pe);
    if (there == nullptr) [[unlikely]]
      return false;
    ++puts_, put_bytes_ += bytes;
    std::atomic_thread_fence(std::memory_order_release);
    std::memmove(there, from, bytes);
    return true;
  }

  uint64_t gets() const { return gets_; }
  uint64_t get_bytes() const { return get_bytes_; }
  uint64_t puts() const { return puts_; }
  uint64_t put_bytes() const { return put_bytes_; }

 private:
  static constexpr int64_t gets_between_progress = 32;
  static constexpr size_t bytes_that_count = 4096;  // as much as another get

  // Whether a PE's object lies within the first `size` bytes of the heap.
  [[gnu::always_inline]] bool within(uint64_t size, const void* object, size_t bytes,
                                     int pe) const {
    const uint64_t at = reinterpret_cast<uint64_t>(object) - begin_;
    return at < size && bytes <= size - at && static_cast<size_t>(pe) < pes_;
  }
  [[gnu::always_inline]] std::byte* find(const void* object, size_t bytes, int pe) const {
    if (!within(bytes_, object, bytes, pe)) return nullptr;
    return reinterpret_cast<std::byte*>(reinterpret_cast<uint64_t>(object) +
                                        static_cast<uint64_t>(offsets_[static_cast<size_t>(pe)]));
  }

  uint64_t begin_ = 0, bytes_ = 0;  // what calls may use now; 0 bytes: nothing
  size_t pes_ = 0;
  int64_t* offsets_ = nullptr;
  int64_t until_progress_ = gets_between_progress;
  uint64_t all_ = 0;
  std::atomic<bool> held_{false};
  uint64_t gets_ = 0, get_bytes_ = 0, puts_ = 0, put_bytes_ = 0;
};

}  // namespace nearcache::shmem
