// SPDX-License-Identifier: BSD-3-Clause

// Non-blocking gets that are in flight: each delivers its lines to a place of its own in a staging
// area, where they stay until the next quiet.
//
// They are not fetched directly into the pages, whose bytes may be written in the meantime, and
// which may be evicted before the data arrives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearcache {

class Arrivals {
 public:
  struct Arrival {
    uint64_t begin, end;  // addresses
    int32_t pe;
    uint32_t epoch;  // the epoch (last acquire) in which it was requested
    uint32_t at;     // offset in the staging area, in bytes
  };
  static constexpr size_t most = 512;

  void create(char* staging, size_t bytes) {
    staging_ = staging;
    room_ = bytes;
  }

  // Returns a place for [begin, end), or nullptr if there is no room. The place belongs to the get
  // until clear().
  char* add(int pe, uint64_t begin, uint64_t end, uint32_t epoch) {
    const size_t bytes = (static_cast<size_t>(end - begin) + 63) / 64 * 64;
    if (count_ == most || bytes > room_ - used_) return nullptr;
    list_[count_++] = {begin, end, pe, epoch, static_cast<uint32_t>(used_)};
    char* place = staging_ + used_;
    used_ += bytes;
    return place;
  }
  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  // Returns the maximum number of bytes that one more arrival may have.
  size_t room() const { return count_ == most ? 0 : room_ - used_; }
  const Arrival& operator[](size_t i) const { return list_[i]; }
  const char* data(const Arrival& arrival) const { return staging_ + arrival.at; }
  void clear() { count_ = used_ = 0; }

 private:
  Arrival list_[most];
  char* staging_ = nullptr;
  size_t room_ = 0, used_ = 0, count_ = 0;
};

}  // namespace nearcache
