// Which pages of a range of own memory were written since the last check.
//
// If the kernel supports it (Linux 6.7), by userfaultfd write protection in its asynchronous form
// and the PAGEMAP_SCAN ioctl: the first store to a page after a check costs a fault of under a
// microsecond, a check costs microseconds per MiB, and no store is missed. Otherwise, and for the
// parts of pages at both ends that the range shares with other data, by checksums: a check reads
// all bytes, and a store that changes nothing is not seen. Neither sees a network adapter writing
// to memory behind the processor's back.
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

  // Bytes of a range that were written, from its start; whole pages but at the ends.
  struct Run {
    uint64_t first, bytes;
  };

  // Watches [base, base + bytes) from now on; the memory must stay mapped until `unwatch`. Returns
  // the range's number.
  int watch(const void* base, uint64_t bytes) { return watch(base, bytes, true); }
  // The same, but -1 where the kernel does not help; then nothing of the memory is read.
  int watch_by_protection(const void* base, uint64_t bytes) { return watch(base, bytes, false); }
  void unwatch(int number);
  // Appends what was written since the last look at this range, in address order.
  void look(int number, std::vector<Run>* runs);
  // The same of a part of a range that is write-protected, and begins and ends with a page; what is
  // known of its other pages is appended, too.
  void look_at_part(int number, uint64_t first, uint64_t bytes, std::vector<Run>* runs);

  // For tests: go without the kernel's help.
  void use_checksums_only() { checksums_only_ = true; }
  // How the whole pages of a range are watched: "write protection" or "checksums".
  const char* means(int range) const {
    return is_protected(range) ? "write protection" : "checksums";
  }
  bool is_protected(int range) const { return ranges_[static_cast<size_t>(range)].is_protected; }

 private:
  struct Range {
    uintptr_t begin = 0, end = 0;              // as asked for; begin == end: not in use
    uintptr_t pages_begin = 0, pages_end = 0;  // the whole pages in it
    bool is_protected = false;
    // of the two ends, then of the pages if not protected
    std::vector<uint64_t> sums;
    // found by looks at other ranges of the same pages; absolute addresses
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
