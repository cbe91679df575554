// SPDX-License-Identifier: BSD-3-Clause

// CLaMPI's victim selection (section III.D): evicts, from a sample of index slots, the entry with
// the lowest score R = R_T * R_P, where R_T = last access / now and R_P = min(|average get -
// adjacent free space| / average get, 1). After one eviction the newcomer fits or fails (weak
// caching). `clampi-temporal` scores by R_T alone, `clampi-positional` by R_P alone (section
// IV.A.3).
#include <algorithm>
#include <cmath>

#include "cache/get/policy/policy_view.h"

namespace nearcache {
namespace {

class ClampiPolicy final : public Policy {
 public:
  explicit ClampiPolicy(PolicyKind kind)
      : temporal_(kind != PolicyKind::clampi_positional),
        positional_(kind != PolicyKind::clampi_temporal) {}

  void judge(PolicyView, Newcomer* newcomer) const override { newcomer->value = 0; }
  void inserted(PolicyView cache, EntryId id, const Newcomer&) const override {
    cache.entry(id).stamp = cache.now();
  }
  void touched(PolicyView cache, EntryId id) const override { cache.entry(id).stamp = cache.now(); }
  void removed(PolicyView, EntryId) const override {}

  EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                          const Newcomer&) const override {
    EntryId victim = no_entry;
    double least = INFINITY;
    for (int i = 0; i < count; ++i) consider(cache, path[i], &victim, &least);
    return victim;
  }

  bool make_room(PolicyView cache, const Newcomer&) const override {
    const Index& index = cache.index();
    const uint64_t slots = index.slot_count();
    const uint64_t start = (uint64_t{cache.random()} * slots) >> 32;
    EntryId victim = no_entry;
    double least = INFINITY;
    for (uint64_t i = 0; i < slots && (i < cache.sample() || victim == no_entry); ++i) {
      const EntryId id = index.at((start + i) % slots);
      if (id != no_entry) consider(cache, id, &victim, &least);
    }
    if (victim == no_entry) return false;
    cache.evict(victim);
    return true;
  }

 private:
  void consider(PolicyView cache, EntryId id, EntryId* victim, double* least) const {
    if (!cache.evictable(id)) return;
    const double score =
        (temporal_ ? recency(cache, id) : 1) * (positional_ ? position(cache, id) : 1);
    if (score < *least) *least = score, *victim = id;
  }

  static double recency(PolicyView cache, EntryId id) {
    const auto now = static_cast<double>(cache.gets());
    const double age = cache.now() - cache.entry(id).stamp;
    return (now - age) / now;
  }

  static double position(PolicyView cache, EntryId id) {
    const double average = std::max<double>(1, static_cast<double>(cache.average_bytes()));
    const double adjacent = static_cast<double>(cache.storage().free_around(id));
    return std::min(std::abs(average - adjacent) / average, 1.0);
  }

  bool temporal_, positional_;
};

}  // namespace

const Policy& clampi_policy(PolicyKind kind) {
  static const ClampiPolicy full(PolicyKind::clampi);
  static const ClampiPolicy temporal(PolicyKind::clampi_temporal);
  static const ClampiPolicy positional(PolicyKind::clampi_positional);
  return kind == PolicyKind::clampi_temporal     ? temporal
         : kind == PolicyKind::clampi_positional ? positional
                                                 : full;
}

}  // namespace nearcache
