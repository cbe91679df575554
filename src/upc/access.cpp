// SPDX-License-Identifier: BSD-3-Clause

// Accesses to threads that cannot be reached by loads and stores, and their ordering.
#include <sched.h>
#include <shmem.h>

#include <cstring>

#include "nearcache/shmem.h"
#include "upc/internal.h"

using namespace nearcache::upc;

namespace {

// Often enough that a thread spinning on its own memory soon sees another's put, and seldom enough
// that it costs a loop over own memory nothing.
constexpr int loads_a_poll = 1024, loads_a_poll_near = 1 << 14;

}  // namespace

extern "C" {

#ifdef NCUPC_STRUCT_POINTERS
char** ncupc_near = nullptr;
#else
char* ncupc_near[NCUPC_MAX_THREADS];
#endif
int ncupc_writing = 0;
int ncupc_caching = 0;
int ncupc_until_poll = loads_a_poll_near;
}

namespace {

char* symmetric(uint64_t offset) { return runtime.arena + offset; }
int pe_of(ncupc_ptr p) { return static_cast<int>(ncupc_thread(p)); }

void count_loads_anew() { ncupc_until_poll = runtime.any_far ? loads_a_poll : loads_a_poll_near; }

// If the thread is within reach, the guard page faults instead.
void check_far(uint64_t offset) {
  if (__builtin_expect(offset < control_bytes, 0))
    ncupc_error(nullptr, 0, "access", "through a null pointer to shared");
}

}  // namespace

namespace nearcache::upc {

void before_far_read(size_t thread, uint64_t offset, size_t bytes) {
  check_far(offset);
  if (!ncupc_caching && runtime.in_flight.overlaps(thread, offset, bytes)) ncupc_complete();
}

void before_far_write(size_t thread, uint64_t offset, size_t bytes) {
  check_far(offset);
  ncupc_writing = 1;
  if (ncupc_caching) return;
  // puts to one PE stay in order
  if (runtime.in_flight.overlaps(thread, offset, bytes)) shmem_fence();
  runtime.in_flight.add(thread, offset, bytes);
}

void drop(const char* call) { nearcache_shmem_acquire_by(call); }

void read_bytes(void* to, ncupc_ptr from, size_t bytes) {
  const char* near = ncupc_reach(from);
  if (near != nullptr) {
    memcpy(to, near, bytes);
  } else {
    ncupc_get_far(to, from, bytes);
  }
}

void write_bytes(ncupc_ptr to, const void* from, size_t bytes) {
  char* near = ncupc_reach(to);
  if (near != nullptr) {
    memcpy(near, from, bytes);
  } else {
    ncupc_put_far(to, from, bytes);
  }
}

}  // namespace nearcache::upc

extern "C" {

void ncupc_complete(void) {
  ncupc_writing = 0;
  runtime.in_flight.clear();
  shmem_quiet();
}

void ncupc_drop(void) { drop("strict access or upc_fence"); }

// Elements use the typed calls, so that a cache hit needs no size.
void ncupc_get_far(void* to, ncupc_ptr from, size_t bytes) {
  const uint64_t offset = ncupc_address(from);
  before_far_read(ncupc_thread(from), offset, bytes);
  if (bytes == 8) {
    const uint64_t value =
        shmem_uint64_g(reinterpret_cast<uint64_t*>(symmetric(offset)), pe_of(from));
    memcpy(to, &value, sizeof value);
  } else if (bytes == 4) {
    const uint32_t value =
        shmem_uint32_g(reinterpret_cast<uint32_t*>(symmetric(offset)), pe_of(from));
    memcpy(to, &value, sizeof value);
  } else {
    shmem_getmem(to, symmetric(offset), bytes, pe_of(from));
  }
}

void ncupc_put_far(ncupc_ptr to, const void* from, size_t bytes) {
  const uint64_t offset = ncupc_address(to);
  before_far_write(ncupc_thread(to), offset, bytes);
  shmem_putmem(symmetric(offset), from, bytes, pe_of(to));
}

// For a debugger (python/nearcache/upcc/gdb_pointers.py), which calls it in a stopped thread. It is
// in this file so that every program contains it. Returns a copy of what the thread itself would
// read, valid until the next call; null if there is no object.
__attribute__((used)) const void* ncupc_debug_read(ncupc_ptr from, size_t bytes) {
  alignas(16) static char copy[64 * 1024];
  if (ncupc_is_null(from) || bytes > sizeof copy) return nullptr;
  read_bytes(copy, from, bytes);
  return copy;
}

// An aligned scalar is read by an atomic fetch of its word, which no cache serves; anything else by
// a get, after dropping the cache.
void ncupc_get_far_strict(void* to, ncupc_ptr from, size_t bytes) {
  const uint64_t offset = ncupc_address(from);
  check_far(offset);
  ncupc_before_strict();
  if (bytes <= 8 && offset % 8 + bytes <= 8) {
    const uint64_t word = word_fetch(ncupc_thread(from), offset & ~uint64_t{7});
    memcpy(to, reinterpret_cast<const char*>(&word) + offset % 8, bytes);
  } else {
    if (ncupc_caching) ncupc_drop();
    shmem_getmem(to, symmetric(offset), bytes, pe_of(from));
  }
  acquire("strict access");
}

void ncupc_put_far_strict(ncupc_ptr to, const void* from, size_t bytes) {
  ncupc_before_strict();
  ncupc_put_far(to, from, bytes);
  ncupc_complete();
  acquire("strict access");
}

void ncupc_poll(void) {
  count_loads_anew();
  progress();
  if (++runtime.polls.relaxed % 64 == 0) sched_yield();
}

void ncupc_poll_strict(void) {
  count_loads_anew();
  progress();
  if (++runtime.polls.strict * 16 >= static_cast<unsigned>(runtime.polls.looks_before_yield)) {
    runtime.polls.strict = 0;
    sched_yield();
  }
}

}  // extern "C"
