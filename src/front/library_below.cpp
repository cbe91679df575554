// SPDX-License-Identifier: BSD-3-Clause
#include "front/library_below.h"

#include <dlfcn.h>

#include <algorithm>

namespace nearcache {
namespace {

bool is_ours(const LoadedObject& object) { return object.name().starts_with("libnearcache"); }

}  // namespace

void LibraryBelow::find_private() {
  const std::vector<LoadedObject> objects = loaded_objects();
  const auto found = std::ranges::find_if(objects, [&](const LoadedObject& object) {
    return !is_ours(object) && defines_symbol(object, mark_);
  });
  if (found == objects.end() || dlsym(RTLD_NEXT, mark_) != nullptr) return;
  if (!found->path.empty()) private_ = dlopen(found->path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

void* LibraryBelow::symbol(const char* name) const {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr || private_ == nullptr ? found : dlsym(private_, name);
}

void* LibraryBelow::data(const char* name) const {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr || private_ == nullptr ? found : dlsym(private_, name);
}

bool TableFiller::defined(const char* name) const {
  return std::ranges::any_of(objects_, [&](const LoadedObject& object) {
    return !is_ours(object) && defines_symbol(object, name);
  });
}

void* TableFiller::find(const char* name, const char* twin, bool certain) const {
  void* found = certain || defined(name) ? below_.symbol(name) : nullptr;
  return found != nullptr || !(certain || defined(twin)) ? found : below_.symbol(twin);
}

}  // namespace nearcache
