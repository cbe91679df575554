#include "shmem/cache_options.h"

#include <bit>

namespace nearcache::shmem {
namespace {

void refuse(const Options& options, const char* name, const std::string& allowed, std::vector<std::string>* errors) {
  errors->push_back(std::string(name) + ": '" + option_text(options, name) + "' is not allowed; allowed: " + allowed);
}

bool power_of_two_in(uint64_t value, uint64_t least, uint64_t most) {
  return std::has_single_bit(value) && value >= least && value <= most;
}

}  // namespace

PageCacheOptions page_cache_options(const Options& options, std::vector<std::string>* errors) {
  constexpr uint64_t least_page = 256, most_page = 65536, least_pages = 8, most_bytes = uint64_t{64} << 30;
  PageCacheOptions chosen;
  if (power_of_two_in(options.shmem_page, least_page, most_page)) {
    chosen.page = options.shmem_page;
  } else {
    refuse(options, "shmem_page", "a power of two from 256 to 65536", errors);
  }
  const uint64_t least_line = chosen.page / 64;
  if (power_of_two_in(options.shmem_line, least_line, chosen.page)) {
    chosen.line = options.shmem_line;
  } else {
    refuse(options, "shmem_line", "a power of two from " + std::to_string(least_line) + " to " + std::to_string(chosen.page), errors);
    chosen.line = std::min(std::max<size_t>(chosen.line, least_line), chosen.page);
  }
  const uint64_t least_size = least_pages * chosen.page;
  if (options.shmem_size >= least_size && options.shmem_size <= most_bytes) {
    chosen.size = options.shmem_size / chosen.page * chosen.page;
  } else {
    refuse(options, "shmem_size", "from " + std::to_string(least_size) + " to " + std::to_string(most_bytes) + " bytes", errors);
    chosen.size = std::max<size_t>(chosen.size, least_size);
  }
  if (options.shmem_dirty_pages >= 1) {
    chosen.dirty_pages = options.shmem_dirty_pages;
  } else {
    refuse(options, "shmem_dirty_pages", "at least 1", errors);
  }
  chosen.readahead = options.shmem_readahead;
  return chosen;
}

}  // namespace nearcache::shmem
