// SPDX-License-Identifier: BSD-3-Clause

// Mode coherent: the version words of a window's ranks (cache/get/versions.h) at any time of a run,
// derived from the writes in the traces of all ranks.
//
// A put or an accumulate keeps its region open from its call until the first time known to the
// trace after the synchronisation that completes it. A rank's own stores change the version at the
// check that noticed them. Effects that depend on measured times are left out: a writer may close a
// region later, and an owner may stop watching one that is written all the time. So the result is
// the most that the mode can save, given this run's writes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/get/versions.h"
#include "simulate/rank.h"
#include "simulate/written_pages.h"

namespace nearcache::simulate {

class RegionVersions {
 public:
  // `writes`: each writer's writes are in order of their beginning.
  RegionVersions(Regions regions, const std::vector<TimedWrite>& writes);

  const Regions& regions() const { return regions_; }
  // Returns the words of `target`, a rank of the window, at a time of the clock common to all
  // ranks.
  VersionWords at(uint32_t target, uint64_t now) const;
  // Returns true if readers are told that the regions of bytes [from, to) changed after `since` and
  // not after `now`.
  bool changed(uint32_t target, int64_t from, int64_t to, uint64_t since, uint64_t now) const;

 private:
  // Event times of one region, sorted.
  struct Times {
    std::vector<uint64_t> opened, closed, stored;
  };
  using Target = std::array<Times, VersionWords::regions>;

  Regions regions_;
  std::unordered_map<uint32_t, Target> targets_;  // only those that were written
};

// By window id.
using VersionsById = std::unordered_map<uint64_t, RegionVersions>;

// Reads all traces once. Windows created without memory (dynamic ones) are never coherent and are
// left out. Returns an empty string, or what is wrong with one of the traces.
std::string read_versions(const std::vector<RankTrace>& traces, VersionsById* versions);

}  // namespace nearcache::simulate
