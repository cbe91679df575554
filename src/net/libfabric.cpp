// SPDX-License-Identifier: BSD-3-Clause
#if __has_include(<rdma/fabric.h>)
#include "net/libfabric.h"

#include <dlfcn.h>

#include <type_traits>

namespace nearcache::net {
namespace {

struct Loaded {
  Libfabric functions{};
  std::string wrong;

  Loaded() {
    constexpr const char* name = "libfabric.so.1";
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      wrong = dlerror();
      return;
    }
    const auto find = [&](auto* function, const char* symbol) {
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(  //
          dlsym(library, symbol));
      if (*function == nullptr) wrong = std::string(name) + " has no " + symbol;
    };
    find(&functions.getinfo, "fi_getinfo");
    find(&functions.freeinfo, "fi_freeinfo");
    find(&functions.dupinfo, "fi_dupinfo");
    find(&functions.fabric, "fi_fabric");
    find(&functions.strerror, "fi_strerror");
  }
};

}  // namespace

const Libfabric* libfabric(std::string* wrong) {
  static const Loaded& loaded = *new Loaded;  // needed until the process ends
  *wrong = loaded.wrong;
  return wrong->empty() ? &loaded.functions : nullptr;
}

}  // namespace nearcache::net
#endif
