// SPDX-License-Identifier: BSD-3-Clause

// Learns whether it pays to store what was fetched: per power of two of the size, separately for
// keys that were requested before and for new ones, from the fate of entries that were stored (hit,
// or evicted without a hit).
//
// An entry still waiting for its first hit says nothing: while a cache fills, most entries that
// will be hit have not been hit yet. But once it has waited several times as long as others took to
// be hit, it is given up and counts as evicted: a program that never repeats itself may have
// storage that never fills.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/get/cost_model.h"

namespace nearcache {

class Worth {
 public:
  void prefetch(uint64_t bytes) const { __builtin_prefetch(&kinds_[CostModel::class_of(bytes)]); }
  void stored(uint64_t bytes, bool seen) { kind(bytes, seen).waiting += 1; }

  // Records an entry's first hit after `waited` gets, perhaps after it had been given up.
  void first_hit(uint64_t bytes, bool seen, uint32_t waited, bool given_up) {
    Kind& its = kind(bytes, seen);
    float& from = given_up ? its.gone : its.waiting;
    from = std::max(from - 1, 0.0f);
    its.hit += 1;
    its.hit_waits += static_cast<float>(waited);
    fade(&its);
  }

  // Records that an entry was evicted or given up without a hit.
  void gone(uint64_t bytes, bool seen) {
    Kind& its = kind(bytes, seen);
    its.waiting = std::max(its.waiting - 1, 0.0f);
    its.gone += 1;
    fade(&its);
  }
  bool waits_in_vain(uint64_t bytes, bool seen, uint32_t waited) const {
    const Kind& its = kinds_[CostModel::class_of(bytes)][seen];
    return static_cast<float>(waited) * (its.hit + prior) >
           patience * (its.hit_waits + prior * first_guess);
  }

  // Records that all entries are gone.
  void all_gone() {
    for (auto& size : kinds_) {
      for (Kind& its : size) {
        its.gone += its.waiting;
        its.waiting = 0;
        fade(&its);
      }
    }
  }

  // Storing costs a copy of the data. Not storing costs the get and the copy if the key is
  // requested again, since it is stored then. One in 16 gets that do not seem worth it is stored
  // nevertheless, to go on learning.
  bool worth_storing(uint64_t bytes, bool seen, double remote_ns, double copy_ns) {
    const Kind& its = kinds_[CostModel::class_of(bytes)][seen];
    const double chance = (its.hit + prior) / (its.hit + its.gone + 2 * prior);
    if (chance * (remote_ns + copy_ns) > copy_ns) return true;
    return ++skipped_ % 16 == 0;
  }

 private:
  // weight of the initial assumption that half of what is stored will be hit, in outcomes
  static constexpr float prior = 8;
  static constexpr float first_guess = 256;  // initially assumed gets until a hit
  static constexpr float patience = 4;       // of entries hit at random times, 2% wait longer
  // outcomes after which the past is halved, since a program may change
  static constexpr float most_counted = 512;

  struct Kind {
    float waiting = 0;  // entries not hit so far
    float hit = 0, gone = 0;
    float hit_waits = 0;  // total gets that entries waited for their first hit
  };

  Kind& kind(uint64_t bytes, bool seen) { return kinds_[CostModel::class_of(bytes)][seen]; }
  static void fade(Kind* its) {
    if (its->hit + its->gone <= most_counted) return;
    const float part = most_counted / 2 / (its->hit + its->gone);
    its->hit *= part, its->gone *= part, its->hit_waits *= part;
  }

  Kind kinds_[CostModel::size_classes][2];
  uint32_t skipped_ = 0;
};

}  // namespace nearcache
