// SPDX-License-Identifier: BSD-3-Clause

// Start and end of a program: main, the arena, and the implicit barrier at exit.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/byte_size.h"
#include "nearcache/shmem.h"
#include "upc/internal.h"
#include "upc/surroundings.h"

namespace nearcache::upc {

constinit Runtime runtime;

namespace {

constexpr size_t default_heap = size_t{64} << 20;

[[noreturn]] void bad_option(const char* name, const char* value, const char* allowed) {
  ncupc_error(nullptr, 0, name, "'%s' is not %s", value, allowed);
}

size_t heap_bytes() {
  const char* name = "NEARCACHE_UPC_SHARED_HEAP";
  const char* text = getenv(name);
  if (text == nullptr || *text == 0) return default_heap;
  uint64_t bytes = 0;
  if (!parse_byte_size(text, text + strlen(text), &bytes) || bytes == 0 ||
      bytes > NCUPC_MAX_ADDRESS) {
    bad_option(name, text, "a number of bytes that pointers to shared can name, such as 512M");
  }
  return bytes;
}

int looks_before_yield() {
  const char* text = getenv("NEARCACHE_UPC_YIELD");
  if (text != nullptr && *text != 0) {
    char* end = nullptr;
    const long looks = strtol(text, &end, 10);
    if (*end != 0 || looks < 1 || looks > 1000000000)
      bad_option("NEARCACHE_UPC_YIELD", text, "a number of polls, at least 1");
    return static_cast<int>(looks);
  }
  // About a microsecond: a message within a node arrives sooner if its sender runs, so a longer
  // wait means that it does not. Over a network each look is a library call, which takes about as
  // long.
  return 20;
}

// Allocates one symmetric block, whose words and static data are zero. If its heap is too small,
// the library only returns null.
void allocate_arena(size_t statics_end, size_t heap) {
  runtime.heap_start = heap_align(statics_end);
  runtime.arena_bytes = heap_align(runtime.heap_start + heap);
  if (runtime.arena_bytes > NCUPC_MAX_ADDRESS) {
    ncupc_error(nullptr, 0, "start",
                "static shared data and the shared heap need %zu bytes per thread, pointers to "
                "shared can name %llu",
                runtime.arena_bytes, static_cast<unsigned long long>(NCUPC_MAX_ADDRESS));
  }
  runtime.arena = static_cast<char*>(shmem_align(arena_alignment, runtime.arena_bytes));
  if (runtime.arena == nullptr) {
    ncupc_error(
        nullptr, 0, "start",
        "OpenSHMEM has no %zu bytes per thread (%zu of the shared heap, %zu of static shared "
        "data): raise its symmetric heap "
        "(SMA_SYMMETRIC_SIZE for Open MPI, SHMEM_SYMMETRIC_SIZE for others) or lower "
        "--shared-heap (NEARCACHE_UPC_SHARED_HEAP)",
        runtime.arena_bytes, heap, statics_end - control_bytes);
  }
  memset(runtime.arena, 0, control_bytes);
  nearcache_shmem_uncached(runtime.arena, control_bytes);
}

void find_near_threads() {
#ifdef NCUPC_STRUCT_POINTERS
  ncupc_near = static_cast<char**>(calloc(static_cast<size_t>(ncupc_threads), sizeof *ncupc_near));
  if (ncupc_near == nullptr) ncupc_error(nullptr, 0, "start", "no memory for the table of threads");
#endif
  for (int thread = 0; thread < ncupc_threads; ++thread) {
    ncupc_near[thread] = thread == ncupc_mythread
                             ? runtime.arena
                             : static_cast<char*>(shmem_ptr(runtime.arena, thread));
    if (ncupc_near[thread] == nullptr) runtime.any_far = true;
  }
  size_t first = 0;
  while (ncupc_near[first] == nullptr) ++first;
  reinterpret_cast<Control*>(runtime.arena + guard_bytes)->node = first;
  ncupc_caching = runtime.any_far && nearcache_shmem_caching();
}

// Runs at exit(), after the program's handlers and, being registered later, before the OpenSHMEM
// library's own.
void end(int status, void*) {
  if (runtime.ending) return;
  fflush(nullptr);  // a launcher may end the others as soon as one has ended with a nonzero status
  if (!runtime.home.here()) _Exit(status);  // the library's handler would wait for the threads
  end_barrier(status);
  runtime.ending = true;
  runtime.started = false;
  guard_end();
  shmem_finalize();
}

void start() {
  prepare_surroundings(heap_bytes());
  shmem_init();
  runtime.started = true;
  runtime.home.settle();
  set_threads(shmem_n_pes(), shmem_my_pe());
  if (ncupc_threads > NCUPC_MAX_THREADS) {
    ncupc_error(nullptr, 0, "start",
                "%d threads, but this form of pointers to shared has room for %d (compile with "
                "struct pointers)",
                ncupc_threads, NCUPC_MAX_THREADS);
  }
  const size_t statics_end = place_statics(control_bytes);
  allocate_arena(statics_end, heap_bytes());
  find_near_threads();
  polls_start(looks_before_yield());
  guard_start();
  messages_start();
  heap_start();
  shmem_barrier_all();  // all threads' words are initialised
  runtime.all_near = internal_barrier(runtime.any_far ? 1 : 0) == 0;
  initialise_statics();
  internal_barrier(0);
  on_exit(end, nullptr);
}

}  // namespace
}  // namespace nearcache::upc

int main(int argc, char** argv) {
  nearcache::upc::start();
  exit(ncupc_main(argc, argv));
}
