// SPDX-License-Identifier: BSD-3-Clause

// The shared objects loaded in the process, and the symbols that each of them defines and imports.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nearcache {

struct LoadedObject {
  std::string path;               // empty for the executable
  std::string_view name() const;  // the file name, without directories
  const void* dynamic = nullptr;  // its dynamic section, null if it has none
  uintptr_t base = 0;
  std::vector<std::pair<uintptr_t, uintptr_t>> segments;  // begin and end addresses

  bool contains(const void* address) const;
};

// Returns all objects, in the order in which the dynamic linker searches the global ones.
std::vector<LoadedObject> loaded_objects();

// Returns a number that is never 0 and changes whenever an object is loaded or unloaded. Takes
// negligible time.
unsigned long long count_of_loads();

// Calls `visit(name, defined)` for every dynamic symbol of `object` until it returns false.
void for_each_symbol(const LoadedObject& object,
                     const std::function<bool(const char*, bool)>& visit);

bool defines_symbol(const LoadedObject& object, std::string_view symbol);

}  // namespace nearcache
