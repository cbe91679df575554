// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/cache_options.h"

#include <algorithm>

namespace nearcache::shmem {
namespace {

void refuse(const Options& options, const char* name, const std::string& allowed,
            std::vector<std::string>* errors) {
  errors->push_back(std::string(name) + ": '" + option_text(options, name) +
                    "' is not allowed; allowed: " + allowed);
}

}  // namespace

// Each option is within its own range (options.def). Here are the checks that involve several.
PageCacheOptions page_cache_options(const Options& options, std::vector<std::string>* errors) {
  constexpr uint64_t least_pages = 8;
  PageCacheOptions chosen;
  chosen.page = options.shmem_page;
  const uint64_t least_line = chosen.page / 64;
  if (options.shmem_line >= least_line && options.shmem_line <= chosen.page) {
    chosen.line = options.shmem_line;
  } else {
    refuse(options, "shmem_line",
           "a power of two from " + std::to_string(least_line) + " to " +
               std::to_string(chosen.page) + " (a page)",
           errors);
    chosen.line = std::clamp<size_t>(chosen.line, least_line, chosen.page);
  }
  const uint64_t least_size = least_pages * chosen.page;
  if (options.shmem_size >= least_size) {
    chosen.size = options.shmem_size / chosen.page * chosen.page;
  } else {
    refuse(options, "shmem_size", "at least " + std::to_string(least_size) + " bytes (8 pages)",
           errors);
    chosen.size = std::max<size_t>(chosen.size, least_size);
  }
  // No more pages than exist can be dirty, and each needs masks of a quarter of its size.
  chosen.dirty_pages = std::min<uint64_t>(options.shmem_dirty_pages, chosen.size / chosen.page);
  chosen.readahead = options.shmem_readahead;
  return chosen;
}

}  // namespace nearcache::shmem
