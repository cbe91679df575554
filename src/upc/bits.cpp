// SPDX-License-Identifier: BSD-3-Clause

// Bit-fields of shared structs: only the bytes that hold the field are touched.
#include <cstring>

#include "upc/internal.h"

namespace {

struct Bytes {
  size_t first, count;
};

Bytes bytes_of(const unsigned char* mask, size_t bytes) {
  size_t first = 0, end = bytes;
  while (first < end && mask[first] == 0) ++first;
  while (end > first && mask[end - 1] == 0) --end;
  return {first, end - first};
}

void read(void* to, ncupc_ptr from, size_t bytes, bool strict) {
  const char* near = ncupc_reach(from);
  if (near != nullptr) {
    if (strict) return ncupc_load_strict(to, near, bytes);
    ncupc_count_load();
    memcpy(to, near, bytes);
  } else if (strict) {
    ncupc_get_far_strict(to, from, bytes);
  } else {
    ncupc_get_far(to, from, bytes);
  }
}

void write(ncupc_ptr to, const void* from, size_t bytes, bool strict) {
  char* near = ncupc_reach(to);
  if (near == nullptr)
    return strict ? ncupc_put_far_strict(to, from, bytes) : ncupc_put_far(to, from, bytes);
  if (strict) ncupc_before_strict();
  memcpy(near, from, bytes);
  if (strict) ncupc_after_strict();
}

}  // namespace

extern "C" {

void ncupc_get_bits(ncupc_ptr p, const unsigned char* mask, unsigned char* image, size_t bytes,
                    int strict) {
  const Bytes held = bytes_of(mask, bytes);
  if (held.count != 0)
    read(image + held.first, ncupc_add_bytes(p, static_cast<ptrdiff_t>(held.first)), held.count,
         strict != 0);
}

// Bytes that also contain other fields keep those bits. In C, fields that share a byte are one
// memory location, so it is the program's own race if two threads change different ones without
// synchronisation.
void ncupc_put_bits(ncupc_ptr p, const unsigned char* mask, const unsigned char* image,
                    size_t bytes, int strict) {
  const Bytes held = bytes_of(mask, bytes);
  if (held.count == 0) return;
  const ncupc_ptr at = ncupc_add_bytes(p, static_cast<ptrdiff_t>(held.first));
  // the widest bit-field of C is 64 bits, of GNU C 128, and may start within a byte
  unsigned char merged[32];
  read(merged, at, held.count, false);
  for (size_t i = 0; i < held.count; ++i) {
    const unsigned char bits = mask[held.first + i];
    merged[i] = static_cast<unsigned char>((merged[i] & ~bits) | (image[held.first + i] & bits));
  }
  write(at, merged, held.count, strict != 0);
}

}  // extern "C"
