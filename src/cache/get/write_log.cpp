// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/write_log.h"

#include <cstring>

namespace nearcache {

void WriteLog::clear() {
  now_ = 0;
  std::memset(pieces_, 0, sizeof pieces_);
  std::memset(targets_, 0, sizeof targets_);
  std::memset(longs_, 0, sizeof longs_);
}

bool WriteLog::search(uint32_t target, int64_t from, int64_t to, uint32_t since) const {
  if (targets_[target % filter_size] <= since) return false;
  const int64_t first = from >> piece_bits;
  const int64_t last = (to - 1) >> piece_bits;
  bool perhaps =
      longs_[target % filter_size] > since || static_cast<uint64_t>(last - first) >= most_pieces;
  for (int64_t piece = first; !perhaps && piece <= last; ++piece)
    perhaps = pieces_[slot(target, piece)] > since;
  if (!perhaps) return false;
  if (now_ - since > log_size) return true;
  for (uint32_t number = since + 1; number <= now_ && number != 0; ++number) {
    const Write& write = log_[number % log_size];
    if (write.target == target && write.from < to && from < write.to) return true;
  }
  return false;
}

}  // namespace nearcache
