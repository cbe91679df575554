// SPDX-License-Identifier: BSD-3-Clause
#include "upc/in_flight.h"

#include <cstring>

namespace nearcache::upc {

bool InFlight::overlaps(size_t thread, uint64_t offset, size_t bytes) const {
  if (!any_ || bytes == 0) return false;
  const uint64_t first = offset / line, last = (offset + bytes - 1) / line;
  if (long_ || last - first >= most_lines) return true;
  for (uint64_t number = first; number <= last; ++number) {
    if (marks_[slot(thread, number)] == now_) return true;
  }
  return false;
}

void InFlight::add(size_t thread, uint64_t offset, size_t bytes) {
  if (bytes == 0) return;
  any_ = true;
  const uint64_t first = offset / line, last = (offset + bytes - 1) / line;
  if (last - first >= most_lines) {
    long_ = true;
    return;
  }
  for (uint64_t number = first; number <= last; ++number) marks_[slot(thread, number)] = now_;
}

void InFlight::clear() {
  if (!any_) return;
  any_ = long_ = false;
  if (++now_ == 0) {  // the epoch number has wrapped around: erase old marks
    memset(marks_, 0, sizeof marks_);
    now_ = 1;
  }
}

}  // namespace nearcache::upc
