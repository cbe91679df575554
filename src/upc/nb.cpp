// SPDX-License-Identifier: BSD-3-Clause

// upc_nb.h: copies to and from threads out of reach use OpenSHMEM's non-blocking calls; all others
// are made at once.
//
// OpenSHMEM completes everything in flight together, by a quiet. Copies are numbered, and a handle
// is the number of its copy, which is complete if we have made a later quiet. Releases by the
// program are not counted: an unnecessary quiet then finds nothing to do.
#include <shmem.h>

#include <cstring>

#include "upc/internal.h"
#include "upc/unordered.h"

using namespace nearcache::upc;

namespace {

upc_handle_t start() {
  ncupc_writing = 1;  // so that a release, and the end of the program, wait for it
  return ++runtime.copies.started;
}

void complete_up_to(upc_handle_t handle) {
  if (handle <= runtime.copies.completed) return;
  ncupc_complete();
  runtime.copies.completed = runtime.copies.started;
}

upc_handle_t get(void* to, ncupc_ptr from, size_t bytes) {
  if (bytes == 0) return UPC_COMPLETE_HANDLE;
  if (ncupc_reach(from) != nullptr) {
    upc_memget(to, from, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  before_far_read(ncupc_thread(from), ncupc_address(from), bytes);
  const Unordered unordered;
  shmem_getmem_nbi(to, runtime.arena + ncupc_address(from), bytes,
                   static_cast<int>(ncupc_thread(from)));
  return start();
}

upc_handle_t put(ncupc_ptr to, const void* from, size_t bytes) {
  if (bytes == 0) return UPC_COMPLETE_HANDLE;
  if (ncupc_reach(to) != nullptr) {
    upc_memput(to, from, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  before_far_write(ncupc_thread(to), ncupc_address(to), bytes);
  shmem_putmem_nbi(runtime.arena + ncupc_address(to), from, bytes,
                   static_cast<int>(ncupc_thread(to)));
  return start();
}

// Uses upc_memcpy's buffer if both ends are out of reach.
upc_handle_t copy(ncupc_ptr to, ncupc_ptr from, size_t bytes) {
  if (const char* near = ncupc_reach(from)) return put(to, near, bytes);
  if (char* near = ncupc_reach(to)) return get(near, from, bytes);
  upc_memcpy(to, from, bytes);
  return UPC_COMPLETE_HANDLE;
}

}  // namespace

namespace nearcache::upc {

upc_handle_t last_copy() { return runtime.copies.started; }

bool copy_is_complete(upc_handle_t handle) { return handle <= runtime.copies.completed; }

void complete_copy(upc_handle_t handle, const char* call) {
  if (handle > runtime.copies.started)
    ncupc_error(nullptr, 0, call, "%llu is not a handle of this thread",
                static_cast<unsigned long long>(handle));
  complete_up_to(handle);
}

}  // namespace nearcache::upc

extern "C" {

upc_handle_t upc_memcpy_nb(ncupc_ptr to, ncupc_ptr from, size_t bytes) {
  return copy(to, from, bytes);
}
upc_handle_t upc_memget_nb(void* to, ncupc_ptr from, size_t bytes) { return get(to, from, bytes); }
upc_handle_t upc_memput_nb(ncupc_ptr to, const void* from, size_t bytes) {
  return put(to, from, bytes);
}
upc_handle_t upc_memset_nb(ncupc_ptr to, int value, size_t bytes) {
  upc_memset(to, value, bytes);
  return UPC_COMPLETE_HANDLE;
}

void upc_memcpy_nbi(ncupc_ptr to, ncupc_ptr from, size_t bytes) { copy(to, from, bytes); }
void upc_memget_nbi(void* to, ncupc_ptr from, size_t bytes) { get(to, from, bytes); }
void upc_memput_nbi(ncupc_ptr to, const void* from, size_t bytes) { put(to, from, bytes); }
void upc_memset_nbi(ncupc_ptr to, int value, size_t bytes) { upc_memset(to, value, bytes); }

void upc_sync(upc_handle_t handle) { complete_copy(handle, "upc_sync"); }

// OpenSHMEM cannot tell whether a copy is complete, so the first attempt waits for it. That takes
// one round trip, and never depends on another thread's program.
int upc_sync_attempt(upc_handle_t handle) {
  upc_sync(handle);
  return 1;
}

void upc_synci(void) { complete_up_to(runtime.copies.started); }

int upc_synci_attempt(void) {
  upc_synci();
  return 1;
}

}  // extern "C"
