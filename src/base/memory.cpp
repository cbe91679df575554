#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/environment.h"

namespace nearcache {

// A control group without a limit says "max", which does not read as a number.
static uint64_t control_group_limit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    FILE* file = fopen(path, "r");
    if (file == nullptr) continue;
    unsigned long long bytes = 0;
    const int read = fscanf(file, "%llu", &bytes);
    fclose(file);
    if (read == 1 && bytes > 0) return bytes;
  }
  return UINT64_MAX;
}

uint64_t node_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const uint64_t physical = pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                                                  : uint64_t{1} << 30;
  const uint64_t group = control_group_limit();
  return group < physical ? group : physical;
}

uint64_t launched_on_node() {
  uint64_t most = 1;
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}) {
    const char* text = environment_value(name);
    if (text != nullptr) most = std::max<uint64_t>(most, strtoull(text, nullptr, 10));
  }
  return most;
}

}  // namespace nearcache
