// Mode coherent: the version words of a window's ranks (cache/get/versions.h) at any time of a run,
// derived from the writes in the traces of all ranks.
//
// A put or an accumulate has its region open from its call to the first time, known to the trace,
// after the synchronisation that completes it. A rank's own stores have a new version from the
// check that noticed them. Whatever depends on measured times is left out: a writer may close a
// region later, and an owner may stop watching one that is written all the time. So the result is
// what the mode saves at best, given this run's writes.
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
  // `writes`: those of one writer in the order of their beginning.
  RegionVersions(Regions regions, const std::vector<TimedWrite>& writes);

  const Regions& regions() const { return regions_; }
  // Of a target, a rank of the window, at a time of all ranks' clock.
  VersionWords at(uint32_t target, uint64_t now) const;
  // Whether anything was written to regions of bytes [from, to) after `since`, and not after `now`,
  // as far as readers are told.
  bool changed(uint32_t target, int64_t from, int64_t to, uint64_t since, uint64_t now) const;

 private:
  // Times of one region, sorted.
  struct Times {
    std::vector<uint64_t> opened, closed, stored;
  };
  using Target = std::array<Times, VersionWords::regions>;

  Regions regions_;
  std::unordered_map<uint32_t, Target> targets_;  // those that were written
};

// By window.
using VersionsById = std::unordered_map<uint64_t, RegionVersions>;

// Reads all traces once. Windows that are created without memory (dynamic ones) are never coherent,
// and left out. Returns an empty string, or what is wrong with one of the traces.
std::string read_versions(const std::vector<RankTrace>& traces, VersionsById* versions);

}  // namespace nearcache::simulate
