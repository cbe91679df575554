// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coherence/own_stores.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.h"
#include "base/kernel_page.h"
#include "base/round.h"

namespace nearcache::mpi {
namespace {

// Looks may take one part in this many of the time, and faults on watched pages as much again.
constexpr uint64_t share_of_time = 100;
constexpr uint64_t looks_at_once_ns = 500000, faults_at_once_ns = 170000;
// A look takes no longer than this and its time for each MiB, nor do beginning and ending to watch:
// beyond that, the process had lost the processor.
constexpr uint64_t longest_look_ns = 200000;
constexpr uint64_t look_ns = 2000, begin_or_end_ns = 8000;  // for each MiB
constexpr uint64_t fault_ns = 1000;       // the first store to a page after a look
constexpr uint32_t most_dirty_looks = 4;  // consecutive; then a region is volatile
constexpr uint64_t least_back_off_ns = 1000000, most_back_off_ns = 4000000000;

const uint64_t page = kernel_page();

}  // namespace

OwnStores::OwnStores(const void* base, uint64_t bytes, Regions regions, VersionWords* words,
                     WriteTracker* tracker, Allowance* watching)
    : base_(reinterpret_cast<uintptr_t>(base)),
      bytes_(bytes),
      regions_(regions.led_by(regions.lead_of(base_, page))),
      words_(&words->own),
      tracker_(tracker),
      mine_(regions_.mask(0, static_cast<int64_t>(bytes))),
      looking_(share_of_time, ns_to_ticks(looks_at_once_ns), clock_ticks()),
      faulting_(share_of_time, ns_to_ticks(faults_at_once_ns), clock_ticks()),
      watching_(*watching) {
  words_->fill(0);  // regions without memory never change
  each_region(mine_, [&](uint32_t region) { (*words_)[region] = VersionWords::not_watched; });
  __atomic_store_n(&words->lead, 1 + regions.lead_of(base_, page), __ATOMIC_RELEASE);
}

OwnStores::~OwnStores() {
  if (range_ < 0) return;
  const uint64_t now = clock_ticks();
  tracker_->unwatch(range_);
  watching_.spent(ticks_since(now, begin_or_end_ns));
}

uint64_t OwnStores::ticks_since(uint64_t begin, uint64_t ns_of_a_mebibyte) const {
  const uint64_t most_ns = longest_look_ns + (bytes_ >> 20) * ns_of_a_mebibyte;
  return std::min(clock_ticks() - begin, ns_to_ticks(most_ns));
}

uint32_t OwnStores::volatile_regions() const {
  return static_cast<uint32_t>(std::popcount(mine_ & ~watched_));
}

void OwnStores::never(const std::string& why) {
  if (why_never_.empty()) why_never_ = why;
  never(mine_);
}

void OwnStores::never(uint64_t regions) {
  never_ |= regions & mine_;
  leave_alone(watched_ & regions, clock_ticks(), false);
}

uint64_t OwnStores::regions_of(const void* from, uint64_t bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(from);
  const uintptr_t last = bytes > UINTPTR_MAX - first ? UINTPTR_MAX : first + bytes;
  if (bytes == 0 || last <= base_ || first >= base_ + bytes_) return 0;
  return regions_.mask(static_cast<int64_t>(std::max(first, base_) - base_),
                       static_cast<int64_t>(std::min<uintptr_t>(last, base_ + bytes_) - base_));
}

// Watches the whole pages that the memory lies in. Stores to other data on these pages only cause
// some regions to look changed.
void OwnStores::begin(uint64_t now) {
  if (!watching_.left(now)) return;
  pages_ = round_down(base_, page);
  const uintptr_t end = round_up(base_ + bytes_, page);
  range_ = tracker_->watch_by_protection(reinterpret_cast<const void*>(pages_), end - pages_);
  if (range_ < 0)
    return never(
        "the kernel does not tell which pages are written (Linux 6.7 does, for memory of the "
        "process' own)");
  const uint64_t regions = mine_ & ~never_;
  each_region(regions, [&](uint32_t region) {
    state_[region].calm_since = now;
    add(region, 1);  // after the pages were protected: the next look sees any later store
  });
  watched_ = regions;
  watching_.spent(ticks_since(now, begin_or_end_ns));
}

void OwnStores::look() {
  if ((mine_ & ~never_) == 0) return;
  const uint64_t now = clock_ticks();
  if (range_ < 0) return begin(now);
  const bool may_look = looking_.left(now);
  if (!may_look || !faulting_.left(now)) leave_alone(may_look ? hottest() : watched_, now, true);
  if (!may_look) return;
  dirty_pages_ = 0;
  ++looks_;
  const uint64_t changed = (watched_ == 0 ? 0 : stored_to(watched_)) | std::exchange(changed_, 0);
  uint64_t too_often = 0;
  each_region(watched_, [&](uint32_t region) {
    Region& its = state_[region];
    if ((changed >> region & 1) == 0) {
      its.dirty_looks = 0;
      return;
    }
    ++changes_;
    ++its.heat;
    if (++its.dirty_looks >= most_dirty_looks) {
      too_often |= uint64_t{1} << region;
    } else {
      add(region, 2);
    }
  });
  leave_alone(too_often, now, true);
  if (++looks_of_heat_ % 64 == 0) {
    for (Region& region : state_) region.heat /= 2;
  }
  if (faulting_.left(now)) watch_again(now);
  looking_.spent(ticks_since(now, look_ns));
  faulting_.spent(dirty_pages_ * ns_to_ticks(fault_ns));
}

// The regions that are written most; all if none stands out.
uint64_t OwnStores::hottest() const {
  uint32_t most = 0;
  each_region(watched_, [&](uint32_t region) { most = std::max(most, state_[region].heat); });
  uint64_t regions = 0;
  each_region(watched_, [&](uint32_t region) {
    regions |= uint64_t{2 * state_[region].heat >= most ? 1u : 0u} << region;
  });
  return regions;
}

// From now on readers keep nothing of these regions, and stores to them cost nothing.
void OwnStores::leave_alone(uint64_t regions, uint64_t now, bool back_off) {
  each_region(regions & watched_, [&](uint32_t region) {
    Region& its = state_[region];
    if (now - its.calm_since > 8 * its.back_off) its.back_off = 0;
    its.back_off =
        std::clamp(2 * its.back_off, ns_to_ticks(least_back_off_ns), ns_to_ticks(most_back_off_ns));
    its.retry_at = back_off ? now + its.back_off : UINT64_MAX;
    its.dirty_looks = 0;
    add(region, 1);
  });
  watched_ &= ~regions;
}

void OwnStores::watch_again(uint64_t now) {
  uint64_t regions = 0;
  each_region(mine_ & ~watched_ & ~never_, [&](uint32_t region) {
    if (now >= state_[region].retry_at) regions |= uint64_t{1} << region;
  });
  if (regions == 0) return;
  // protects the regions' pages; on pages shared with other regions, only this look may see a
  // change
  const uint64_t changed = stored_to(regions);
  each_region(changed & watched_, [&](uint32_t region) { add(region, 2); });
  each_region(regions, [&](uint32_t region) {
    state_[region].calm_since = now;
    add(region, 1);
  });
  watched_ |= regions;
}

uint64_t OwnStores::stored_to(uint64_t regions) {
  runs_.clear();
  while (regions != 0) {
    const auto first = static_cast<uint32_t>(std::countr_zero(regions));
    const auto count = static_cast<uint32_t>(std::countr_one(regions >> first));
    const uintptr_t from = round_down(base_ + regions_.begin(first), page);
    const bool to_the_end = first + count == VersionWords::regions;
    const uintptr_t end = to_the_end
                              ? base_ + bytes_
                              : std::min(base_ + bytes_, base_ + regions_.begin(first + count));
    const uintptr_t to = round_up(end, page);
    tracker_->look_at_part(range_, from - pages_, to - from, &runs_);
    regions &= first + count >= 64 ? 0 : ~uint64_t{0} << (first + count);
  }
  for (const WriteTracker::Run& run : runs_) dirty_pages_ += run.bytes / page;
  return mask_of(runs_);
}

uint64_t OwnStores::mask_of(const std::vector<WriteTracker::Run>& runs) const {
  uint64_t mask = 0;
  for (const WriteTracker::Run& run : runs)
    mask |= regions_of(reinterpret_cast<const void*>(pages_ + run.first), run.bytes);
  return mask;
}

}  // namespace nearcache::mpi
