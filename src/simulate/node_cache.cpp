// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/node_cache.h"

#include <algorithm>

namespace nearcache::simulate {

std::shared_ptr<NodeCache> NodeCache::make(uint32_t ranks, bool in_bytes,
                                           const GetCacheSettings& settings, uint64_t limit,
                                           std::string* wrong) {
  SharedCache::Plan plan{ranks, limit, in_bytes, settings};
  const uint64_t least = GetCache::memory_for(settings.index_capacity, settings.storage_bytes);
  plan.limit = std::max(settings.tuner.adaptive ? plan.limit : 0, least);
  auto cache = std::make_shared<NodeCache>();
  if (!cache->region_.reserve(SharedCache::bytes_for(plan)))
    return *wrong = "there are no addresses for a node's cache of this size", nullptr;
  SharedCache::make(static_cast<std::byte*>(cache->region_.base()), plan);
  return cache;
}

std::unique_ptr<SharedCache> NodeCache::join(const std::shared_ptr<NodeCache>& cache,
                                             MemoryBudget* budget, std::string* wrong) {
  const Region& region = cache->region_;
  auto joined =
      SharedCache::join(static_cast<std::byte*>(region.base()), region.bytes(), budget, wrong);
  if (joined != nullptr) joined->keep(cache);
  return joined;
}

}  // namespace nearcache::simulate
