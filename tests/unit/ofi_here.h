// Returns whether the fabric over libfabric can be tested here.
#pragma once

#include <dlfcn.h>

#include <string>

namespace nearcache::net {

inline bool ofi_is_here(std::string* why) {
#if __has_include(<rdma/fabric.h>)
  if (dlopen("libfabric.so.1", RTLD_NOW) != nullptr) return true;
  *why = dlerror();
#else
  *why = "the headers of libfabric are not there";
#endif
  return false;
}

}  // namespace nearcache::net
