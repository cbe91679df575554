// SPDX-License-Identifier: BSD-3-Clause

// A window's cache shared by the ranks of a node (option share): the library's, in this process's
// own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory.h"
#include "base/region.h"
#include "cache/get/get_cache.h"
#include "cache/shared/shared_cache.h"

namespace nearcache::simulate {

class NodeCache {
 public:
  // Creates a cache for this many ranks. `settings` applies to all of them together; sizes may
  // adapt up to `limit` bytes. Returns null and sets *wrong if the system refuses the address
  // space.
  static std::shared_ptr<NodeCache> make(uint32_t ranks, bool in_bytes,
                                         const GetCacheSettings& settings, uint64_t limit,
                                         std::string* wrong);
  // Joins the cache as one more rank.
  static std::unique_ptr<SharedCache> join(const std::shared_ptr<NodeCache>& cache,
                                           MemoryBudget* budget, std::string* wrong);

 private:
  Region region_;
};

// The caches of a node, by window id.
using NodeCaches = std::unordered_map<uint64_t, std::shared_ptr<NodeCache>>;

}  // namespace nearcache::simulate
