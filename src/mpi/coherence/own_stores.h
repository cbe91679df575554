// SPDX-License-Identifier: BSD-3-Clause

// Announces this rank's stores into its own window memory to readers: at each release, the regions
// stored to since the last one get a new version.
//
// The kernel tells which pages were written (telemetry/write_tracker.h). Regions that are written
// all the time are volatile, and so are the hottest regions, or all of them, while checking costs
// more than a small share of the time: they are not checked, and readers keep nothing of them.
// Memory that the kernel cannot report on stays volatile.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/allowance.h"
#include "cache/get/versions.h"
#include "telemetry/write_tracker.h"

namespace nearcache::mpi {

class OwnStores {
 public:
  // Watches [base, base + bytes). `words`: this rank's version words, which readers read; initially
  // all regions are volatile. `watching`: the time that the process may spend on beginning and
  // ending to watch windows, in ticks; while it is used up, none begins to be watched.
  OwnStores(const void* base, uint64_t bytes, Regions regions, VersionWords* words,
            WriteTracker* tracker, Allowance* watching);
  ~OwnStores();
  OwnStores(const OwnStores&) = delete;
  OwnStores& operator=(const OwnStores&) = delete;

  // Called before others may learn what was stored: checks for stores.
  void look();
  // Makes memory that others may write, or that is written by DMA, volatile for good; `why` is
  // reported.
  void never(const std::string& why);
  void never(uint64_t regions);
  // A call that has begun writes to these regions, perhaps by DMA: they count as changed at the
  // next look.
  void will_have_changed(uint64_t regions) { changed_ |= regions; }
  // Returns the regions that these bytes of memory lie in.
  uint64_t regions_of(const void* from, uint64_t bytes) const;

  const std::string& why_never() const { return why_never_; }
  uint64_t looks() const { return looks_; }
  uint64_t changes() const { return changes_; }
  uint32_t volatile_regions() const;

 private:
  struct Region {
    uint32_t dirty_looks = 0;                             // consecutive
    uint32_t heat = 0;                                    // dirty looks, decaying with age
    uint64_t retry_at = 0, back_off = 0, calm_since = 0;  // in ticks
  };
  void begin(uint64_t now);
  // Returns the time since then, at most what work on all of the memory takes that needs so many ns
  // for each MiB of it.
  uint64_t ticks_since(uint64_t begin, uint64_t ns_of_a_mebibyte) const;
  void add(uint32_t region, uint64_t value) {
    __atomic_store_n(&(*words_)[region], (*words_)[region] + value, __ATOMIC_RELEASE);
  }
  void leave_alone(uint64_t regions, uint64_t now, bool back_off);
  uint64_t hottest() const;
  void watch_again(uint64_t now);
  // Returns those of the regions that were stored to since the last look at them, and restarts
  // watching.
  uint64_t stored_to(uint64_t regions);
  uint64_t mask_of(const std::vector<WriteTracker::Run>& runs) const;

  const uintptr_t base_;
  const uint64_t bytes_;
  const Regions regions_;
  std::array<uint64_t, VersionWords::regions>* const words_;
  WriteTracker* const tracker_;
  uint64_t mine_;         // regions in which this rank has memory
  uint64_t watched_ = 0;  // regions that are not volatile
  uint64_t never_ = 0;    // regions that are volatile for good
  uint64_t changed_ = 0;  // regions written by calls
  int range_ = -1;
  uintptr_t pages_ = 0;       // start of the watched range
  uint64_t dirty_pages_ = 0;  // seen in the current look
  std::array<Region, VersionWords::regions> state_{};
  Allowance looking_, faulting_;
  Allowance& watching_;
  uint32_t looks_of_heat_ = 0;
  std::string why_never_;
  uint64_t looks_ = 0, changes_ = 0;
  std::vector<WriteTracker::Run> runs_;
};

}  // namespace nearcache::mpi
