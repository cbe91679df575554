// SPDX-License-Identifier: BSD-3-Clause

// Derives the page cache's options from those of the process.
#pragma once

#include <string>
#include <vector>

#include "base/options.h"
#include "cache/page/page_cache.h"

namespace nearcache::shmem {

// Replaces invalid values by the default and adds a message for each to `errors`.
PageCacheOptions page_cache_options(const Options& options, std::vector<std::string>* errors);

}  // namespace nearcache::shmem
