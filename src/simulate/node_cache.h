// One window's cache for the ranks of a node (option share): the library's, in plain memory of this
// process.
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
  // For this many ranks; `settings`: of all together, which may adapt up to `limit` bytes. Null,
  // and why, where the system refuses its addresses.
  static std::shared_ptr<NodeCache> make(uint32_t ranks, bool in_bytes,
                                         const GetCacheSettings& settings, uint64_t limit,
                                         std::string* wrong);
  // As one more of its ranks.
  static std::unique_ptr<SharedCache> join(const std::shared_ptr<NodeCache>& cache,
                                           MemoryBudget* budget, std::string* wrong);

 private:
  Region region_;
};

// Those of a node's windows, by their ids.
using NodeCaches = std::unordered_map<uint64_t, std::shared_ptr<NodeCache>>;

}  // namespace nearcache::simulate
