// What a reader knows about the versions of a window's targets: which of the data that it read
// before the last acquire it may still serve (mode coherent).
//
// The memory of each target is divided into regions. For each one the target's rank keeps a word of
// its own stores and one of others' writes. Read again after an acquire (a validation), they say
// whether anything may have changed since. Entries carry the number of acquires when their get was
// issued (their stamp); a region has a floor, below which stamps are too old. The protocol and its
// argument: docs/semantics.md, "Coherent mode".
//
// Knows nothing of MPI and fetches nothing: the front end does, and reports what it read.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearcache {

// The words of one rank's memory, as they lie in its hidden window.
struct VersionWords {
  static constexpr uint32_t regions = 64;

  // Of writes by puts and accumulates: ranks that may be writing, and above them how often one of
  // them has said that it no longer does.
  static constexpr uint64_t open = 1;
  static constexpr uint64_t close = (uint64_t{1} << 24) - 1;
  static constexpr uint64_t writers(uint64_t remote) { return remote & ((uint64_t{1} << 24) - 1); }
  // Of the owner's stores: odd where they are not watched (volatile), else a version.
  static constexpr uint64_t not_watched = 1;

  // What a writer opens before it writes to the regions `wanted` of a target, of which it has some
  // open. Beyond a few it is all at once.
  static uint64_t to_open(uint64_t opened, uint64_t wanted) {
    constexpr int most_one_by_one = 4;
    wanted &= ~opened;
    return wanted != 0 && std::popcount(opened | wanted) > most_one_by_one ? ~opened : wanted;
  }

  uint64_t lead = 0;  // 1 + that of its memory (Regions::led_by); 0: it has not said so yet
  std::array<uint64_t, regions> remote, own;

  bool usable(uint32_t region) const {
    return writers(remote[region]) == 0 && own[region] % 2 == 0;
  }
};

template <class Call>
void each_region(uint64_t mask, Call call) {
  for (; mask != 0; mask &= mask - 1) call(static_cast<uint32_t>(std::countr_zero(mask)));
}

// Which regions bytes lie in. They are as large for all ranks of a window, whatever memory each
// has. Of a page or more they begin where pages of their owner's begin, so that no page that is
// stored to lies in two of them: the first is the shorter by what the memory has of the page before
// it (its lead), as malloc gives memory 16 bytes behind a page's beginning.
class Regions {
 public:
  // `most_bytes`: that any rank exposes.
  explicit Regions(uint64_t most_bytes = 0) {
    while (most_bytes > (uint64_t{VersionWords::regions} << shift_)) ++shift_;
  }
  // How far behind the beginning of a page memory at `base` lies, if that matters.
  uint64_t lead_of(uintptr_t base, uint64_t page) const { return bytes() < page ? 0 : base % page; }
  // Those of an owner of memory with this lead.
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
  // A bit for each region of [from, to).
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
  // From now on: what was fetched in this generation or before is not kept.
  Versions(uint32_t ranks, Regions regions, uint32_t generation)
      : regions_(regions), targets_(ranks), began_in_(generation) {}

  // Of a get of this target, in this generation: are its words to be read before it is looked up?
  // Not where that has brought little before.
  bool wants_validation(uint32_t target, uint32_t generation);
  // They have been read in this generation. Returns how many regions may not be served from before.
  uint32_t validated(uint32_t target, uint32_t generation, const VersionWords& words) {
    return validated(target, generation, words, floor_of(target, generation));
  }
  // The same where others fetch, too: stamps from `floor` on are of what was fetched after the
  // words had been read.
  uint32_t validated(uint32_t target, uint32_t generation, const VersionWords& words,
                     uint32_t floor);
  // Besides `wants_validation` of another target: this one will be asked for soon, as it seems, and
  // it is worth it.
  bool likely(uint32_t target, uint32_t generation) const;
  // Targets that there was anything of, in the order of their first time.
  const std::vector<uint32_t>& targets() const { return known_targets_; }
  // A get of the target that is to be kept has been issued in this generation, perhaps before its
  // words are read.
  void fetched(uint32_t target, uint32_t generation) {
    at(target).fetched_in = generation, at(target).fetched = true;
  }
  // May an entry of bytes [from, to), of an older stamp, be served in this generation? It counts as
  // a hit that validation made possible.
  bool keeps(uint32_t target, int64_t from, int64_t to, uint32_t stamp, uint32_t generation);

  // Nothing that was fetched in this generation or before is kept any more.
  void forget(uint32_t generation);

  uint64_t kept() const { return kept_; }
  // Validations in a row, of whichever targets, that brought too little.
  uint32_t barren() const { return barren_; }

  static constexpr uint32_t worth_it = 2;  // hits of a validation

 private:
  struct Target {
    VersionWords known{};
    uint64_t is_known = 0;  // of regions
    std::array<uint32_t, VersionWords::regions> floors{};
    uint32_t validated_in = 0, asked_in = 0, fetched_in = 0;
    bool validated = false, asked = false, fetched = false;  // ever
    bool judged = false;                                     // a validation was
    bool skipping = false;                                   // in this generation
    uint32_t kept = 0;                                       // since the last validation
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
