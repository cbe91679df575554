// SPDX-License-Identifier: BSD-3-Clause

// Records when which pages of a window were written, and by whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace nearcache::simulate {

struct TimedWrite {
  uint32_t target = 0, writer = 0;  // ranks of the window
  int64_t from = 0, to = 0;         // byte range in the target's memory
  uint64_t since = 0, until = 0;    // ns; it happened at some point in between
  bool by_owner = false;            // a store, noticed by a check of its page
};

class WrittenPages {
 public:
  void add(const TimedWrite& write);
  // Returns a write by a rank other than `reader` that may have changed a byte of [from, to) after
  // `cached` and before `read`; null if there is none.
  const TimedWrite* between(uint32_t target, int64_t from, int64_t to, uint32_t reader,
                            uint64_t cached, uint64_t read) const;
  bool empty() const { return whole_.empty() && pages_.empty(); }

 private:
  static constexpr int page_bits = 12;            // owners' stores are noticed per page
  static constexpr int64_t most_pages = 1 << 16;  // a larger write counts for its whole target
  static constexpr size_t most_writes = 64;       // per page; then neighbours in time are merged

  using Writes = std::vector<TimedWrite>;
  static uint64_t key_of(uint32_t target, int64_t page) {
    return (static_cast<uint64_t>(target) << 40) ^ static_cast<uint64_t>(page);
  }
  static void note(Writes* writes, const TimedWrite& write);
  static const TimedWrite* find(const Writes& writes, uint32_t reader, uint64_t cached,
                                uint64_t read);

  std::unordered_map<uint64_t, Writes> pages_;
  std::map<uint32_t, Writes> whole_;
};

}  // namespace nearcache::simulate
