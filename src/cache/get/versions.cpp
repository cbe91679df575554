// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/versions.h"

#include <algorithm>
#include <utility>

namespace nearcache {
namespace {

constexpr uint32_t most_back_off = 1024;  // generations

}  // namespace

bool Versions::wants_validation(uint32_t target, uint32_t generation) {
  Target& its = at(target);
  if (its.validated && its.validated_in == generation) return false;
  if (!its.asked || its.asked_in != generation) {
    its.asked = true;
    its.asked_in = generation;
    its.skipping = its.skip > 0;
    if (its.skipping) --its.skip;
  }
  return !its.skipping;
}

bool Versions::likely(uint32_t target, uint32_t generation) const {
  const Target* its = targets_[target].get();
  return its != nullptr && its->validated && its->validated_in != generation && its->skip == 0 &&
         its->kept >= worth_it;
}

// Judges what the last validation gained. For memory that is not watched it gains nothing, either.
void Versions::judge(Target* target) {
  if (!target->validated) return;
  // before the first one, there was nothing that it could have kept
  if (!std::exchange(target->judged, true)) return;
  if (target->kept >= worth_it) {
    target->skip = target->back_off = 0;
    barren_ = 0;
  } else {
    // The first failure may mean that everything was written anew; then what was read since is
    // worth keeping.
    target->skip = target->back_off;
    target->back_off = std::clamp(2 * target->back_off, 1u, most_back_off);
    ++barren_;
  }
}

// Data fetched in this generation before the words were read may be older than they are.
uint32_t Versions::floor_of(uint32_t target, uint32_t generation) {
  const Target& its = at(target);
  return (its.fetched && its.fetched_in == generation) || began_in_ == generation ? generation + 1
                                                                                  : generation;
}

uint32_t Versions::validated(uint32_t target, uint32_t generation, const VersionWords& words,
                             uint32_t floor) {
  Target& its = at(target);
  judge(&its);
  uint64_t is_known = 0;
  uint32_t changed = 0;
  for (uint32_t region = 0; region < VersionWords::regions; ++region) {
    const uint64_t bit = uint64_t{1} << region;
    const bool usable = words.usable(region);
    const bool same = usable && (its.is_known & bit) != 0 &&
                      its.known.remote[region] == words.remote[region] &&
                      its.known.own[region] == words.own[region];
    if (usable) is_known |= bit;
    if (same) continue;
    its.floors[region] = floor;
    ++changed;
  }
  its.known = words;
  its.is_known = is_known;
  its.kept = 0;
  its.validated = true;
  its.validated_in = generation;
  return changed;
}

bool Versions::keeps(uint32_t target, int64_t from, int64_t to, uint32_t stamp,
                     uint32_t generation) {
  Target* its = targets_[target].get();
  if (its == nullptr || !its->validated || its->validated_in != generation || from >= to)
    return false;
  const Regions regions = regions_.of_owner(its->known);
  for (uint32_t region = regions.of(from); region <= regions.of(to - 1); ++region) {
    if (is_older(stamp, its->floors[region])) return false;
  }
  ++its->kept;
  ++kept_;
  return true;
}

void Versions::forget(uint32_t generation) {
  began_in_ = generation;
  for (const uint32_t rank : known_targets_) {
    Target& target = *targets_[rank];
    target.is_known = 0;
    target.floors.fill(generation + 1);
    target.validated = false;
  }
}

}  // namespace nearcache
