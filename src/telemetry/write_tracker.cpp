// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/write_tracker.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/kernel_page.h"
#include "base/round.h"

namespace nearcache {
namespace {

// The parts of the kernel's interface that the headers of older distributions lack (Linux 6.7,
// uapi/linux/fs.h and userfaultfd.h).
struct PageRegion {
  uint64_t start, end, categories;
};
struct ScanArguments {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long scan_request = _IOWR('f', 16, ScanArguments);
constexpr uint64_t scan_protect_matching = 1, scan_check_protected = 2;
constexpr uint64_t page_is_written = 2;
constexpr uint64_t feature_shared_memory = 1 << 12, feature_unpopulated = 1 << 13,
                   feature_asynchronous = 1 << 15;
constexpr int user_mode_only = 1;

const uint64_t page = kernel_page();

int open_descriptor() {
#ifdef SYS_userfaultfd
  for (const int flags : {O_CLOEXEC | O_NONBLOCK | user_mode_only, O_CLOEXEC | O_NONBLOCK}) {
    const auto descriptor = static_cast<int>(syscall(SYS_userfaultfd, flags));
    if (descriptor < 0) continue;
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = feature_asynchronous | feature_unpopulated | feature_shared_memory;
    if (ioctl(descriptor, UFFDIO_API, &api) == 0 && (api.features & feature_asynchronous) != 0)
      return descriptor;
    close(descriptor);
  }
#endif
  return -1;
}

uint64_t mixed(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0xd1342543de82ef95u;
  return sum ^ sum >> 29;
}

// Computes four sums in parallel, since each multiplication depends on the one before.
uint64_t sum_of(uintptr_t from, uintptr_t to) {
  uint64_t sums[4] = {0x9e3779b97f4a7c15u ^ (to - from), 1, 2, 3};
  const auto* at = reinterpret_cast<const unsigned char*>(from);
  const auto* const end = at + (to - from);
  for (; end - at >= 32; at += 32) {
    uint64_t words[4];
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < 4; ++i) sums[i] = mixed(sums[i], words[i]);
  }
  for (; at != end; ++at) sums[0] = mixed(sums[0], *at);
  return mixed(mixed(mixed(sums[0], sums[1]), sums[2]), sums[3]);
}

void append(std::vector<WriteTracker::Run>* runs, uint64_t first, uint64_t bytes) {
  if (!runs->empty() && runs->back().first + runs->back().bytes >= first) {
    runs->back().bytes =
        std::max(runs->back().first + runs->back().bytes, first + bytes) - runs->back().first;
  } else {
    runs->push_back({first, bytes});
  }
}

}  // namespace

WriteTracker::~WriteTracker() {
  if (descriptor_ >= 0) close(descriptor_);
  if (pagemap_ >= 0) close(pagemap_);
}

bool WriteTracker::protect(const Range& range) {
  if (range.pages_begin == range.pages_end || checksums_only_) return false;
  if (!tried_) {
    tried_ = true;
    descriptor_ = open_descriptor();
    if (descriptor_ >= 0) pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  }
  if (pagemap_ < 0) return false;
  uffdio_register registration{};
  registration.range.start = range.pages_begin;
  registration.range.len = range.pages_end - range.pages_begin;
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(descriptor_, UFFDIO_REGISTER, &registration) != 0) return false;
  ScanArguments probe{};
  probe.size = sizeof probe;
  probe.flags = scan_protect_matching | scan_check_protected;
  probe.start = range.pages_begin;
  probe.end = range.pages_end;
  probe.category_mask = page_is_written;
  probe.return_mask = page_is_written;
  return ioctl(pagemap_, scan_request, &probe) >= 0;
}

std::vector<uint64_t> WriteTracker::sums_of(const Range& range) {
  std::vector<uint64_t> sums = {sum_of(range.begin, range.pages_begin),
                                sum_of(range.pages_end, range.end)};
  if (range.is_protected) return sums;
  for (uintptr_t at = range.pages_begin; at < range.pages_end; at += page)
    sums.push_back(sum_of(at, at + page));
  return sums;
}

int WriteTracker::watch(const void* base, uint64_t bytes, bool or_by_sums) {
  Range range;
  range.begin = reinterpret_cast<uintptr_t>(base);
  range.end = range.begin + bytes;
  range.pages_begin = std::min(round_up(range.begin, page), range.end);
  range.pages_end = std::max(round_down(range.end, page), range.pages_begin);
  // A scan reports to every range that contains the page. So first scan the ranges that share pages
  // with this one: their writes so far precede this range's watch.
  for (size_t other = 0; other < ranges_.size(); ++other) {
    const Range& r = ranges_[other];
    if (r.is_protected && r.pages_begin < range.pages_end && range.pages_begin < r.pages_end)
      look_by_scan(static_cast<int>(other));
  }
  range.is_protected = bytes > 0 && protect(range);
  if (!range.is_protected && !or_by_sums) return -1;
  range.sums = sums_of(range);
  size_t at = 0;
  while (at < ranges_.size() && ranges_[at].begin != ranges_[at].end) ++at;
  if (at == ranges_.size()) ranges_.emplace_back();
  ranges_[at] = std::move(range);
  return static_cast<int>(at);
}

void WriteTracker::unwatch(int number) {
  const Range range = std::move(ranges_[static_cast<size_t>(number)]);
  ranges_[static_cast<size_t>(number)] = Range();
  if (!range.is_protected) return;
  for (const Range& other : ranges_) {
    if (other.is_protected && other.pages_begin < range.pages_end &&
        range.pages_begin < other.pages_end)
      return;
  }
  uffdio_range pages{};
  pages.start = range.pages_begin;
  pages.len = range.pages_end - range.pages_begin;
  ioctl(descriptor_, UFFDIO_UNREGISTER, &pages);
}

// Finds the written pages of a range, write-protects them again, and records them in every range
// that contains them.
void WriteTracker::look_by_scan(int number, uintptr_t begin, uintptr_t end) {
  PageRegion regions[256];
  ScanArguments scan{};
  scan.size = sizeof scan;
  scan.flags = scan_protect_matching | scan_check_protected;
  scan.start = std::max(begin, ranges_[static_cast<size_t>(number)].pages_begin);
  scan.end = std::min(end, ranges_[static_cast<size_t>(number)].pages_end);
  scan.regions = reinterpret_cast<uintptr_t>(regions);
  scan.region_count = 256;
  scan.category_mask = page_is_written;
  scan.return_mask = page_is_written;
  while (scan.start < scan.end) {
    int found = ioctl(pagemap_, scan_request, &scan);
    // Unmapped in the meantime, or the kernel gave up, or these are parts of a page of MAP_HUGETLB,
    // which it never looks at: assumes that all was written.
    if (found < 0 || scan.walk_end <= scan.start) {
      regions[0] = {scan.start, scan.end, page_is_written};
      scan.walk_end = scan.end;
      found = 1;
    }
    for (int i = 0; i < found; ++i) {
      for (Range& range : ranges_) {
        const uint64_t from = std::max<uint64_t>(regions[i].start, range.pages_begin);
        const uint64_t to = std::min<uint64_t>(regions[i].end, range.pages_end);
        if (range.is_protected && from < to) range.missed.push_back({from, to - from});
      }
    }
    scan.start = scan.walk_end;
  }
}

void WriteTracker::append_missed(Range& range, std::vector<Run>* runs) {
  std::sort(range.missed.begin(), range.missed.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  for (const Run& run : range.missed) append(runs, run.first - range.begin, run.bytes);
  range.missed.clear();
}

void WriteTracker::look_at_part(int number, uint64_t first, uint64_t bytes,
                                std::vector<Run>* runs) {
  Range& range = ranges_[static_cast<size_t>(number)];
  look_by_scan(number, range.begin + first, range.begin + first + bytes);
  append_missed(range, runs);
}

void WriteTracker::look_by_sums(Range& range, std::vector<Run>* runs) {
  const std::vector<uint64_t> sums = sums_of(range);
  if (sums[0] != range.sums[0]) append(runs, 0, range.pages_begin - range.begin);
  for (size_t i = 2; i < sums.size(); ++i) {
    if (sums[i] != range.sums[i])
      append(runs, range.pages_begin - range.begin + (i - 2) * page, page);
  }
  if (range.is_protected) append_missed(range, runs);
  if (sums[1] != range.sums[1])
    append(runs, range.pages_end - range.begin, range.end - range.pages_end);
  range.sums = sums;
}

void WriteTracker::look(int number, std::vector<Run>* runs) {
  Range& range = ranges_[static_cast<size_t>(number)];
  if (range.begin == range.end) return;
  if (range.is_protected) look_by_scan(number);
  look_by_sums(range, runs);
}

}  // namespace nearcache
