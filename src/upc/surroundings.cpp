// SPDX-License-Identifier: BSD-3-Clause
#include "upc/surroundings.h"

#include <stdio.h>
#include <stdlib.h>

#include <initializer_list>

#include "upc/internal.h"

namespace nearcache::upc {
namespace {

// The library and its collectives take some of the symmetric heap beside the arena. Only pages that
// are touched take memory.
constexpr size_t beside_arena = size_t{64} << 20;

// The number of threads according to the launcher's variables (Open MPI; PMI of MPICH, Slurm and
// others), as the library is not initialised yet; 1 without any.
int launched_threads() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    const char* text = getenv(name);
    if (text != nullptr && atoi(text) > 0) return atoi(text);
  }
  return 1;
}

}  // namespace

void prepare_surroundings(size_t heap) {
  // Open MPI 4's finalize crashes with its hooks of memory calls.
  setenv("OMPI_MCA_memory", "^patcher", 0);
  if (getenv("SMA_SYMMETRIC_SIZE") != nullptr || getenv("SHMEM_SYMMETRIC_HEAP_SIZE") != nullptr)
    return;
  char text[32];
  snprintf(text, sizeof text, "%zu",
           control_bytes + measure_statics(launched_threads()) + heap + beside_arena);
  setenv("SMA_SYMMETRIC_SIZE", text, 1);    // Open MPI's name; it does not know the other one
  setenv("SHMEM_SYMMETRIC_SIZE", text, 0);  // the specification's
}

}  // namespace nearcache::upc
