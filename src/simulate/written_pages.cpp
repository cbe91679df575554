// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/written_pages.h"

#include <algorithm>

namespace nearcache::simulate {

void WrittenPages::note(Writes* writes, const TimedWrite& write) {
  if (!writes->empty()) {
    TimedWrite& last = writes->back();
    const bool same = last.writer == write.writer && last.by_owner == write.by_owner;
    // Merges neighbours in time. The time between them counts as written too, so the answer errs on
    // the safe side.
    if (same && (write.since <= last.until || writes->size() >= most_writes)) {
      last.since = std::min(last.since, write.since);
      last.until = std::max(last.until, write.until);
      return;
    }
  }
  writes->push_back(write);
}

void WrittenPages::add(const TimedWrite& write) {
  if (write.to <= write.from) return;
  const int64_t first = write.from >> page_bits;
  const int64_t last = (write.to - 1) >> page_bits;
  if (first < -most_pages || last - first >= most_pages) {
    note(&whole_[write.target], write);
    return;
  }
  for (int64_t page = first; page <= last; ++page) note(&pages_[key_of(write.target, page)], write);
}

const TimedWrite* WrittenPages::find(const Writes& writes, uint32_t reader, uint64_t cached,
                                     uint64_t read) {
  for (const TimedWrite& write : writes) {
    if (write.writer != reader && write.until >= cached && write.since <= read) return &write;
  }
  return nullptr;
}

const TimedWrite* WrittenPages::between(uint32_t target, int64_t from, int64_t to, uint32_t reader,
                                        uint64_t cached, uint64_t read) const {
  if (const auto at = whole_.find(target); at != whole_.end()) {
    if (const TimedWrite* write = find(at->second, reader, cached, read)) return write;
  }
  if (pages_.empty() || to <= from) return nullptr;
  const int64_t last = (to - 1) >> page_bits;
  for (int64_t page = from >> page_bits; page <= last; ++page) {
    const auto at = pages_.find(key_of(target, page));
    if (at == pages_.end()) continue;
    if (const TimedWrite* write = find(at->second, reader, cached, read)) return write;
  }
  return nullptr;
}

}  // namespace nearcache::simulate
