// SPDX-License-Identifier: BSD-3-Clause

// upc_memcpy and its relatives. If both ends are out of reach, bytes go through a buffer.
#include <algorithm>
#include <cstring>

#include "upc/internal.h"

using namespace nearcache::upc;

namespace {

// Large enough to reach a network's bandwidth, small enough for a second-level cache. Used only
// within a call; keeps no state.
constexpr size_t buffer_bytes = 64 * 1024;
char buffer[buffer_bytes];

ncupc_ptr after(ncupc_ptr p, size_t bytes) {
  return ncupc_add_bytes(p, static_cast<ptrdiff_t>(bytes));
}

}  // namespace

extern "C" {

void upc_memget(void* to, ncupc_ptr from, size_t bytes) {
  if (bytes == 0) return;
  ncupc_count_load();
  read_bytes(to, from, bytes);
}

void upc_memput(ncupc_ptr to, const void* from, size_t bytes) {
  if (bytes != 0) write_bytes(to, from, bytes);
}

void upc_memcpy(ncupc_ptr to, ncupc_ptr from, size_t bytes) {
  if (bytes == 0) return;
  ncupc_count_load();
  const char* near_from = ncupc_reach(from);
  if (near_from != nullptr) return write_bytes(to, near_from, bytes);
  char* near_to = ncupc_reach(to);
  if (near_to != nullptr) return ncupc_get_far(near_to, from, bytes);
  for (size_t done = 0; done < bytes; done += buffer_bytes) {
    const size_t count = std::min(buffer_bytes, bytes - done);
    ncupc_get_far(buffer, after(from, done), count);
    ncupc_put_far(after(to, done), buffer, count);
  }
}

void upc_memset(ncupc_ptr to, int value, size_t bytes) {
  char* near = ncupc_reach(to);
  if (bytes == 0) return;
  if (near != nullptr) {
    memset(near, value, bytes);
    return;
  }
  memset(buffer, value, std::min(bytes, buffer_bytes));
  for (size_t done = 0; done < bytes; done += buffer_bytes) {
    ncupc_put_far(after(to, done), buffer, std::min(buffer_bytes, bytes - done));
  }
}

}  // extern "C"
