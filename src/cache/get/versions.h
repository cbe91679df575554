// SPDX-License-Identifier: BSD-3-Clause

// What a reader knows about the versions of a window's targets: which of the data that it read
// before the last acquire it may still serve (mode coherent).
//
// The memory of each target is divided into regions. For each region, the target's rank has a word
// for its own stores and one for others' writes. Reading them again after an acquire (a validation)
// tells whether anything may have changed since. Entries carry the number of acquires at the time
// when their get was issued (their stamp); a region has a floor, and older stamps are not valid.
// The protocol, and the argument for it: docs/semantics.md, "Coherent mode".
//
// Knows nothing of MPI and fetches nothing: the front end does, and reports what it has read.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearcache {

// The version words of one rank's memory, as they lie in its hidden window.
struct VersionWords {
  static constexpr uint32_t regions = 64;

  // Word for others' puts and accumulates. The low 24 bits count the ranks that may be writing; the
  // bits above count how often one of them has declared that it no longer does.
  static constexpr uint64_t open = 1;
  static constexpr uint64_t close = (uint64_t{1} << 24) - 1;
  static constexpr uint64_t writers(uint64_t remote) { return remote & ((uint64_t{1} << 24) - 1); }
  // Word for the owner's stores: odd while they are not watched (volatile), otherwise a version.
  static constexpr uint64_t not_watched = 1;

  // Returns the regions that a writer opens before it writes to the regions `wanted` of a target,
  // of which it has already opened `opened`. If it would have more than a few open, it opens all at
  // once.
  static uint64_t to_open(uint64_t opened, uint64_t wanted) {
    constexpr int most_one_by_one = 4;
    wanted &= ~opened;
    return wanted != 0 && std::popcount(opened | wanted) > most_one_by_one ? ~opened : wanted;
  }

  uint64_t lost = 0;  // nonzero: some rank may write at any time, without an announcement
  uint64_t lead = 0;  // 1 + the lead of its memory (Regions::led_by); 0: not announced yet
  std::array<uint64_t, regions> remote, own;

  bool usable(uint32_t region) const {
    return lost == 0 && writers(remote[region]) == 0 && own[region] % 2 == 0;
  }
};

template <class Call>
void each_region(uint64_t mask, Call call) {
  for (; mask != 0; mask &= mask - 1) call(static_cast<uint32_t>(std::countr_zero(mask)));
}

// Maps bytes to regions. Regions have the same size on all ranks of a window, however much memory
// each rank has. Regions of a page or more begin at page boundaries of the owner's memory, so that
// no page that is stored to spans two of them. The first region is therefore shorter by the
// memory's lead, its distance from the beginning of its page: malloc, for example, returns memory
// 16 bytes after the beginning of a page.
class Regions {
 public:
  // `most_bytes`: the most that any rank exposes.
  explicit Regions(uint64_t most_bytes = 0) {
    while (most_bytes > (uint64_t{VersionWords::regions} << shift_)) ++shift_;
  }
  // Returns the distance of memory at `base` from the beginning of its page, if that matters,
  // otherwise 0.
  uint64_t lead_of(uintptr_t base, uint64_t page) const { return bytes() < page ? 0 : base % page; }
  // Returns the regions of an owner whose memory has this lead.
  Regions led_by(uint64_t lead) const {
    Regions its = *this;
    its.lead_ = lead;
    return its;
  }
  Regions of_owner(const VersionWords& its) const {
    return led_by(its.lead == 0 ? 0 : its.lead - 1);
  }
  uint32_t of(int64_t offset) const {
    if (offset < 0) return 0;
    const uint64_t region = (static_cast<uint64_t>(offset) + lead_) >> shift_;
    return region < VersionWords::regions ? static_cast<uint32_t>(region)
                                          : VersionWords::regions - 1;
  }
  uint64_t bytes() const { return uint64_t{1} << shift_; }
  uint64_t begin(uint32_t region) const { return region == 0 ? 0 : region * bytes() - lead_; }
  // Returns a bit for each region that [from, to) touches.
  uint64_t mask(int64_t from, int64_t to) const {
    if (from >= to) return 0;
    const uint32_t first = of(from), last = of(to - 1);
    return (~uint64_t{0} >> (63 - (last - first))) << first;
  }

 private:
  uint32_t shift_ = 8;  // less than a page: puts are known to the byte
  uint64_t lead_ = 0;
};

class Versions {
 public:
  // Starts in `generation`: nothing fetched in it or before is kept.
  Versions(uint32_t ranks, Regions regions, uint32_t generation)
      : regions_(regions), targets_(ranks), began_in_(generation) {}

  // Returns true if the words of `target` should be read before a get of it is looked up in this
  // generation. False if that has gained little before.
  bool wants_validation(uint32_t target, uint32_t generation);
  // Reports words that were read in this generation. Returns how many regions can no longer serve
  // older entries.
  uint32_t validated(uint32_t target, uint32_t generation, const VersionWords& words) {
    return validated(target, generation, words, floor_of(target, generation));
  }
  // Like the above, if others fetch, too: stamps of at least `floor` belong to data that was
  // fetched after the words had been read.
  uint32_t validated(uint32_t target, uint32_t generation, const VersionWords& words,
                     uint32_t floor);
  // Returns true if this target, too, seems about to be requested and worth validating; asked when
  // wants_validation() is true for another target.
  bool likely(uint32_t target, uint32_t generation) const;
  // The targets used so far, in the order of their first use.
  const std::vector<uint32_t>& targets() const { return known_targets_; }
  // Reports that a get of the target that is to be kept was issued in this generation, perhaps
  // before its words are read.
  void fetched(uint32_t target, uint32_t generation) {
    at(target).fetched_in = generation, at(target).fetched = true;
  }
  // Returns true if an entry of bytes [from, to) with an older stamp may be served in this
  // generation. Counts as a hit made possible by validation.
  bool keeps(uint32_t target, int64_t from, int64_t to, uint32_t stamp, uint32_t generation);

  // Keeps nothing that was fetched in this generation or before.
  void forget(uint32_t generation);

  uint64_t kept() const { return kept_; }
  // Consecutive validations, of any targets, that gained too little.
  uint32_t barren() const { return barren_; }

  static constexpr uint32_t worth_it = 2;  // hits per validation

 private:
  struct Target {
    VersionWords known{};
    uint64_t is_known = 0;  // bit mask of regions
    std::array<uint32_t, VersionWords::regions> floors{};
    uint32_t validated_in = 0, asked_in = 0, fetched_in = 0;
    bool validated = false, asked = false, fetched = false;  // ever
    bool judged = false;                                     // the first validation is over
    bool skipping = false;                                   // in this generation
    uint32_t kept = 0;                                       // hits since the last validation
    uint32_t skip = 0, back_off = 0;                         // generations without a validation
  };
  Target& at(uint32_t target) {
    if (targets_[target] == nullptr) {
      targets_[target] = std::make_unique<Target>();
      known_targets_.push_back(target);
    }
    return *targets_[target];
  }
  // Stamps wrap; none is kept that is more than 2^30 away.
  static bool is_older(uint32_t stamp, uint32_t floor) {
    return static_cast<int32_t>(stamp - floor) < 0;
  }
  void judge(Target* target);
  uint32_t floor_of(uint32_t target, uint32_t generation);

  Regions regions_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<uint32_t> known_targets_;
  uint64_t kept_ = 0;
  uint32_t barren_ = 0;
  uint32_t began_in_;
};

}  // namespace nearcache
