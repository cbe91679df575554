// SPDX-License-Identifier: BSD-3-Clause

// Berkeley UPC's functions on pointers, threads and surroundings.
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "upc/internal.h"

using namespace nearcache::upc;

namespace {

// The lowest thread within reach of `thread`: the same for all threads of a node.
uint64_t node_of(size_t thread) {
  return thread == static_cast<size_t>(ncupc_mythread) ? own_word(NCUPC_CONTROL(node))
                                                       : word_fetch(thread, NCUPC_CONTROL(node));
}

void check_thread(const char* call, long thread) {
  if (thread < 0 || thread >= ncupc_threads)
    ncupc_error(nullptr, 0, call, "there is no thread %ld among %d", thread, ncupc_threads);
}

}  // namespace

extern "C" {

unsigned int bupc_thread_distance(int x, int y) {
  check_thread("bupc_thread_distance", x);
  check_thread("bupc_thread_distance", y);
  if (x == y) return BUPC_THREADS_SAME;
  if (runtime.all_near) return BUPC_THREADS_VERYNEAR;
  return node_of(static_cast<size_t>(x)) == node_of(static_cast<size_t>(y)) ? BUPC_THREADS_VERYNEAR
                                                                            : BUPC_THREADS_VERYFAR;
}

void* bupc_cast(ncupc_ptr ptr) { return ncupc_local(ptr); }
int bupc_castable(ncupc_ptr ptr) { return ncupc_is_null(ptr) || ncupc_reach(ptr) != nullptr; }
int bupc_thread_castable(unsigned int thread) {
  check_thread("bupc_thread_castable", static_cast<long>(thread));
  return ncupc_near[thread] != nullptr;
}

ncupc_ptr bupc_inverse_cast(void* ptr) {
  const char* const place = static_cast<const char*>(ptr);
  for (int thread = 0; thread < ncupc_threads; ++thread) {
    const char* const base = ncupc_near[thread];
    if (base != nullptr && place >= base + control_bytes && place < base + runtime.arena_bytes) {
      return ncupc_make(static_cast<uint64_t>(place - base), static_cast<size_t>(thread), 0);
    }
  }
  return NCUPC_NULL;
}

ncupc_ptr bupc_local_to_shared(void* ptr, int thread, int phase) {
  check_thread("bupc_local_to_shared", thread);
  const char* const place = static_cast<const char*>(ptr);
  if (place < runtime.arena + control_bytes || place >= runtime.arena + runtime.arena_bytes) {
    ncupc_error(nullptr, 0, "bupc_local_to_shared",
                "the pointer is not to shared memory of this thread");
  }
  if (phase < 0 || phase >= UPC_MAX_BLOCK_SIZE)
    ncupc_error(nullptr, 0, "bupc_local_to_shared", "%d is not a phase", phase);
  return ncupc_make(static_cast<uint64_t>(place - runtime.arena), static_cast<size_t>(thread),
                    static_cast<size_t>(phase));
}

ncupc_ptr bupc_ptradd(ncupc_ptr p, size_t block, size_t size, ptrdiff_t elements) {
  return ncupc_add(p, elements, size, block);
}

int bupc_dump_shared(ncupc_ptr ptr, char* text, int size) {
  if (text == nullptr || size < BUPC_DUMP_MIN_LENGTH) {
    errno = EINVAL;
    return -1;
  }
  if (ncupc_is_null(ptr)) {
    std::snprintf(text, static_cast<size_t>(size), "<NULL>");
  } else {
    std::snprintf(text, static_cast<size_t>(size), "<address=0x%llx, thread=%zu, phase=%zu>",
                  static_cast<unsigned long long>(ncupc_address(ptr)), ncupc_thread(ptr),
                  ncupc_phase(ptr));
  }
  return 0;
}

char* bupc_getenv(const char* name) { return std::getenv(name); }
void bupc_trace_setmask(const char*) {}
void bupc_stats_setmask(const char*) {}
const char* bupc_trace_getmask(void) { return ""; }
const char* bupc_stats_getmask(void) { return ""; }
void bupc_trace_settracelocal(int) {}
int bupc_trace_gettracelocal(void) { return 0; }

}  // extern "C"
