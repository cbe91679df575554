// The page cache's options from those of the process.
#pragma once

#include <string>
#include <vector>

#include "base/options.h"
#include "cache/page/page_cache.h"

namespace nearcache::shmem {

// Values that are not allowed are replaced by the default, and a message for each is added to
// `errors`.
PageCacheOptions page_cache_options(const Options& options, std::vector<std::string>* errors);

}  // namespace nearcache::shmem
