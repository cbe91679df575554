// A get of contiguous bytes, as front ends describe it to the cache.
#pragma once

#include "cache/get/cached_window.h"

namespace nearcache {

inline RemoteGet plain_get(uint32_t target, int64_t at, uint64_t bytes, void* origin) {
  RemoteGet get{};
  get.key = {at, target, 0};
  get.hash = hash_key(get.key);
  get.bytes = bytes;
  get.from = at;
  get.to = at + static_cast<int64_t>(bytes);
  get.contiguous_target = true;
  get.origin = origin;
  get.elements = {&byte_layout(), bytes};
  return get;
}

}  // namespace nearcache
