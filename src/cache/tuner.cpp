#include "cache/tuner.h"

#include <algorithm>

namespace nearcache {

// Smaller than this an index or a storage is not worth shrinking: both cost a few pages.
static constexpr uint64_t least_index = 512;
static constexpr uint64_t least_storage = 256 * 1024;

static uint64_t scaled(uint64_t value, double factor) {
  return static_cast<uint64_t>(static_cast<double>(value) * factor) + 1;
}

TunerAdvice advise(const TunerSettings& settings, const TunerView& view) {
  TunerAdvice advice{view.index_capacity, view.storage_bytes};
  if (!settings.adaptive || view.gets == 0) return advice;
  const auto gets = static_cast<double>(view.gets);
  const double conflicting = static_cast<double>(view.conflicting) / gets;
  const double no_room = static_cast<double>(view.no_room) / gets;
  const double hits = static_cast<double>(view.hits) / gets;
  const double index_use = static_cast<double>(view.entries) / static_cast<double>(view.index_capacity);
  const double free_share = view.storage_bytes == 0 ? 0 : static_cast<double>(view.free_bytes) / static_cast<double>(view.storage_bytes);

  if (conflicting > settings.conflict_threshold) {
    advice.index_capacity = scaled(view.index_capacity, std::max(1.0, settings.index_increase));
  } else if (index_use < settings.sparsity_threshold && view.index_capacity > least_index && hits > settings.stable_threshold) {
    advice.index_capacity = std::max(least_index, scaled(view.index_capacity, 1 / std::max(1.0, settings.index_decrease)));
  }
  // What growing a full storage has just made free is no reason to shrink it again, or the size would swing.
  const double enough_free = std::max(settings.free_threshold, 1 - 0.8 / std::max(1.0, settings.storage_increase));
  // Gets that never repeat would grow the storage to its limit for nothing.
  const double repeating = static_cast<double>(view.hits + view.returning) / gets;
  if (no_room > settings.capacity_threshold && repeating > settings.capacity_threshold) {
    advice.storage_bytes = scaled(view.storage_bytes, std::max(1.0, settings.storage_increase));
  } else if (hits > settings.stable_threshold && free_share > enough_free && view.storage_bytes > least_storage) {
    advice.storage_bytes = std::max(least_storage, scaled(view.storage_bytes, 1 / std::max(1.0, settings.storage_decrease)));
  }
  return advice;
}

}  // namespace nearcache
