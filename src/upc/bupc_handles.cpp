// SPDX-License-Identifier: BSD-3-Clause

// Berkeley UPC's non-blocking copies: other names for those of upc_nb.h, sets of handles, and
// regions.
#include "upc/internal.h"

using namespace nearcache::upc;

namespace {

// Replaces complete handles by the complete handle. Returns how many are outstanding, and which of
// these was started first.
size_t mark_complete(bupc_handle_t* handles, size_t n, bupc_handle_t* first) {
  size_t waiting = 0;
  for (size_t i = 0; i < n; ++i) {
    if (handles[i] != BUPC_COMPLETE_HANDLE && copy_is_complete(handles[i]))
      handles[i] = BUPC_COMPLETE_HANDLE;
    if (handles[i] == BUPC_COMPLETE_HANDLE) continue;
    if (waiting++ == 0 || handles[i] < *first) *first = handles[i];
  }
  return waiting;
}

}  // namespace

extern "C" {

bupc_handle_t bupc_memcpy_async(ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  return upc_memcpy_nb(dst, src, bytes);
}
bupc_handle_t bupc_memget_async(void* dst, ncupc_ptr src, size_t bytes) {
  return upc_memget_nb(dst, src, bytes);
}
bupc_handle_t bupc_memput_async(ncupc_ptr dst, const void* src, size_t bytes) {
  return upc_memput_nb(dst, src, bytes);
}
bupc_handle_t bupc_memset_async(ncupc_ptr dst, int value, size_t bytes) {
  return upc_memset_nb(dst, value, bytes);
}

void bupc_waitsync(bupc_handle_t handle) { complete_copy(handle, "bupc_waitsync"); }

// See upc_sync_attempt.
int bupc_trysync(bupc_handle_t handle) {
  complete_copy(handle, "bupc_trysync");
  return 1;
}

void bupc_waitsync_all(bupc_handle_t* handles, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    complete_copy(handles[i], "bupc_waitsync_all");
    handles[i] = BUPC_COMPLETE_HANDLE;
  }
}

int bupc_trysync_all(bupc_handle_t* handles, size_t n) {
  bupc_waitsync_all(handles, n);
  return 1;
}

// If all handles are complete already, there is nothing to wait for.
void bupc_waitsync_some(bupc_handle_t* handles, size_t n) {
  bupc_handle_t first = BUPC_COMPLETE_HANDLE;
  size_t given = 0;
  for (size_t i = 0; i < n; ++i) given += handles[i] != BUPC_COMPLETE_HANDLE;
  if (mark_complete(handles, n, &first) != given || given == 0) return;
  complete_copy(first, "bupc_waitsync_some");
  mark_complete(handles, n, &first);
}

int bupc_trysync_some(bupc_handle_t* handles, size_t n) {
  bupc_waitsync_some(handles, n);
  return 1;
}

void bupc_memcpy_asynci(ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  upc_memcpy_nbi(dst, src, bytes);
}
void bupc_memget_asynci(void* dst, ncupc_ptr src, size_t bytes) { upc_memget_nbi(dst, src, bytes); }
void bupc_memput_asynci(ncupc_ptr dst, const void* src, size_t bytes) {
  upc_memput_nbi(dst, src, bytes);
}
void bupc_memset_asynci(ncupc_ptr dst, int value, size_t bytes) {
  upc_memset_nbi(dst, value, bytes);
}
void bupc_waitsynci(void) { upc_synci(); }
int bupc_trysynci(void) { return upc_synci_attempt(); }

void bupc_begin_accessregion(void) {
  if (runtime.copies.in_region)
    ncupc_error(nullptr, 0, "bupc_begin_accessregion", "within another region");
  runtime.copies.in_region = true;
  runtime.copies.before_region = last_copy();
}

bupc_handle_t bupc_end_accessregion(void) {
  if (!runtime.copies.in_region)
    ncupc_error(nullptr, 0, "bupc_end_accessregion", "no bupc_begin_accessregion came before it");
  runtime.copies.in_region = false;
  return last_copy() == runtime.copies.before_region ? BUPC_COMPLETE_HANDLE : last_copy();
}

}  // extern "C"
