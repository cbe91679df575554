// SPDX-License-Identifier: BSD-3-Clause

// Finds out which pages of a range of own memory were written since the last check.
//
// If the kernel supports it (Linux 6.7), this uses asynchronous userfaultfd write protection and
// the PAGEMAP_SCAN ioctl: the first store to a page after a check costs a fault of less than a
// microsecond, a check costs microseconds per MiB, and no store is missed. Otherwise, and for the
// partial pages at both ends that the range shares with other data, it uses checksums: a check
// reads all bytes, and a store that changes nothing is not noticed. Neither method notices a
// network adapter that writes to memory behind the processor's back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearcache {

class WriteTracker {
 public:
  WriteTracker() = default;
  ~WriteTracker();
  WriteTracker(const WriteTracker&) = delete;
  WriteTracker& operator=(const WriteTracker&) = delete;

  // Bytes that were written, relative to the start of the range; whole pages except at the ends.
  struct Run {
    uint64_t first, bytes;
  };

  // Starts watching [base, base + bytes), which must stay mapped until unwatch(). Returns the
  // range's number.
  int watch(const void* base, uint64_t bytes) { return watch(base, bytes, true); }
  // Like watch(), but returns -1 if the kernel lacks support; then none of the memory is read.
  int watch_by_protection(const void* base, uint64_t bytes) { return watch(base, bytes, false); }
  void unwatch(int number);
  // Appends what was written since the last look at this range, in address order.
  void look(int number, std::vector<Run>* runs);
  // Like look(), for a page-aligned part of a range that is write-protected. Writes already found
  // in its other pages are appended too.
  void look_at_part(int number, uint64_t first, uint64_t bytes, std::vector<Run>* runs);

  // For tests: does without the kernel's support.
  void use_checksums_only() { checksums_only_ = true; }
  // Returns how the whole pages of a range are watched: "write protection" or "checksums".
  const char* means(int range) const {
    return is_protected(range) ? "write protection" : "checksums";
  }
  bool is_protected(int range) const { return ranges_[static_cast<size_t>(range)].is_protected; }

 private:
  struct Range {
    uintptr_t begin = 0, end = 0;              // as requested; begin == end: not in use
    uintptr_t pages_begin = 0, pages_end = 0;  // the whole pages within
    bool is_protected = false;
    // checksums of the two ends; then of each page, unless protected
    std::vector<uint64_t> sums;
    // writes found by any range's scan and not yet reported; absolute addresses
    std::vector<Run> missed;
  };

  int watch(const void* base, uint64_t bytes, bool or_by_sums);
  bool protect(const Range& range);
  void look_by_scan(int number, uintptr_t begin, uintptr_t end);
  void look_by_scan(int range) {
    look_by_scan(range, ranges_[static_cast<size_t>(range)].pages_begin,
                 ranges_[static_cast<size_t>(range)].pages_end);
  }
  static void append_missed(Range& range, std::vector<Run>* runs);
  void look_by_sums(Range& range, std::vector<Run>* runs);
  static std::vector<uint64_t> sums_of(const Range& range);

  std::vector<Range> ranges_;
  int descriptor_ = -1, pagemap_ = -1;
  bool tried_ = false, checksums_only_ = false;
};

}  // namespace nearcache
