// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/tuner.h"

#include <algorithm>

namespace nearcache {
namespace {

// An index or storage smaller than this is worth neither shrinking nor refusing: it costs a few
// pages.
constexpr uint64_t least_index = 512;
constexpr uint64_t least_storage = 256 * 1024;

// The default sizes. Below them a mistake costs little, so an index grows by twice as large steps,
// and a storage grows without evidence that anything repeats.
constexpr uint64_t small_index = 4096;
constexpr uint64_t small_storage = 1024 * 1024;

uint64_t scaled(uint64_t value, double factor) {
  return static_cast<uint64_t>(static_cast<double>(value) * factor) + 1;
}

// Grows by `increase`, or by its square if the result does not exceed `small`.
uint64_t grown(uint64_t value, double increase, uint64_t small) {
  const double factor = std::max(1.0, increase);
  return std::max(scaled(value, factor), std::min(scaled(value, factor * factor), small));
}

// Shrinks in steps until `enough` returns true. A factor close to 1 would take too many steps.
template <class Enough>
uint64_t shrunk(uint64_t value, double decrease, uint64_t least, Enough enough) {
  if (decrease < 1.01) return value;
  while (value > least && !enough(static_cast<double>(value)))
    value = std::max(least, scaled(value, 1 / decrease));
  return value;
}

uint64_t index_for(const TunerSettings& settings, const TunerView& view, double conflicting,
                   double hits) {
  const uint64_t has = view.index_capacity;
  if (conflicting > settings.conflict_threshold)
    return grown(has, settings.index_increase, small_index);
  if (view.early || hits <= settings.stable_threshold) return has;
  const auto entries = static_cast<double>(view.entries);
  return shrunk(has, settings.index_decrease, least_index,
                [&](double capacity) { return entries >= settings.sparsity_threshold * capacity; });
}

uint64_t storage_for(const TunerSettings& settings, const TunerView& view, double no_room,
                     double hits) {
  const uint64_t has = view.storage_bytes;
  // Gets that never repeat would grow the storage to its limit for nothing. But a program may read
  // for a long time before it repeats (LCC's first 700 gets are of as many keys), and what a small
  // storage has turned away by then is missed once more.
  const double repeating =
      (static_cast<double>(view.hits) + view.returning) / static_cast<double>(view.gets);
  if (no_room > settings.capacity_threshold && has > 0) {
    if (has < small_storage) return small_storage;
    return repeating > settings.capacity_threshold
               ? scaled(has, std::max(1.0, settings.storage_increase))
               : has;
  }
  if (view.early || hits <= settings.stable_threshold) return has;
  // Space that became free only because a full storage has grown is no reason to shrink it again,
  // or the size would oscillate.
  double factor = std::max(1.0, settings.storage_increase);
  if (has <= small_storage) factor *= factor;
  const double enough_free = std::max(settings.free_threshold, 1 - 0.8 / factor);
  const auto stored = static_cast<double>(has - view.free_bytes);
  return shrunk(has, settings.storage_decrease, least_storage,
                [&](double bytes) { return stored >= (1 - enough_free) * bytes; });
}

}  // namespace

TunerAdvice advise(const TunerSettings& settings, const TunerView& view) {
  TunerAdvice advice{view.index_capacity, view.storage_bytes};
  if (!settings.adaptive || view.gets == 0) return advice;
  const double hits = static_cast<double>(view.hits);
  const double cost = static_cast<double>(view.gets) - hits * (1 - view.hit_cost);
  const double hit_share = hits / static_cast<double>(view.gets);
  if (cost <= 0) return advice;
  advice.index_capacity =
      index_for(settings, view, static_cast<double>(view.conflicting) / cost, hit_share);
  advice.storage_bytes =
      storage_for(settings, view, static_cast<double>(view.no_room) / cost, hit_share);
  return advice;
}

uint64_t tuner_patience(uint64_t entries) { return std::max<uint64_t>(4, entries / 32); }

}  // namespace nearcache
