// SPDX-License-Identifier: BSD-3-Clause
#include "rma/checked_copies.h"

#include <cstring>

namespace nearcache::rma {

// Copies all from `first` on. Returns the number of bytes that were copied.
uint64_t CheckedCopies::copy(net::Detour* by, size_t first) {
  const bool puts = copies_.front().head.kind == Kind::put;
  std::byte* data = by->buffer();
  runs_.clear();
  for (size_t i = first; i < copies_.size(); ++i) {
    const auto [head, memory, from] = copies_[i];
    if (puts) std::memcpy(data, from, head.length), data += head.length;
    // extends the last run if it is adjacent
    if (!runs_.empty() &&
        static_cast<std::byte*>(runs_.back().iov_base) + runs_.back().iov_len == memory)
      runs_.back().iov_len += head.length;
    else
      runs_.push_back({memory, head.length});
  }
  return puts ? by->give(runs_) : by->take(runs_);
}

}  // namespace nearcache::rma
