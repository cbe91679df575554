// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/environment.h"
#include "base/kernel_page.h"

namespace nearcache {

// Returns the control group's memory limit. A group without one says "max", which does not parse as
// a number. Does not use stdio, whose FILE objects live in the program's heap.
static uint64_t control_group_limit() {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    char text[32] = {};
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    const uint64_t bytes = length > 0 ? strtoull(text, nullptr, 10) : 0;
    if (bytes > 0) return bytes;
  }
  return UINT64_MAX;
}

uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  char text[64] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
  if (file >= 0) close(file);
  // the first number is that of all pages; if the system does not tell, half of the limit is used
  const uint64_t used =
      length > 0 ? strtoull(text, nullptr, 10) * kernel_page() : limit.rlim_cur / 2;
  return limit.rlim_cur - std::min<uint64_t>(used, limit.rlim_cur);
}

bool file_may_have(uint64_t bytes) {
  rlimit files{};
  return getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur == RLIM_INFINITY ||
         bytes <= files.rlim_cur;
}

uint64_t node_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const uint64_t physical =
      pages > 0 ? static_cast<uint64_t>(pages) * kernel_page() : uint64_t{1} << 30;
  const uint64_t group = control_group_limit();
  return group < physical ? group : physical;
}

uint64_t launched_on_node() {
  uint64_t most = 1;
  for (const char* name :
       {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}) {
    const char* text = environment_value(name);
    if (text != nullptr) most = std::max<uint64_t>(most, strtoull(text, nullptr, 10));
  }
  return most;
}

void MemoryBudget::keep_spare(Region region, uint64_t kind, uint64_t held) {
  {
    const std::lock_guard lock(mutex_);
    if (held < spare_) return;
    spare_region_ = std::move(region);
    spare_kind_ = kind;
    spare_ = held;
  }
  if (!spare_fits()) release_spare();
}

bool MemoryBudget::take_spare(size_t bytes, uint64_t kind, Region* region) {
  if (spare_ == 0) return false;
  const std::lock_guard lock(mutex_);
  if (spare_region_.bytes() != bytes || spare_kind_ != kind) return false;
  *region = std::move(spare_region_);
  spare_ = 0;
  return true;
}

void MemoryBudget::release_spare() {
  const std::lock_guard lock(mutex_);
  spare_region_.release();
  spare_ = 0;
}

}  // namespace nearcache
