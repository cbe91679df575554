// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/visibility.h"

#ifdef NEARCACHE_STATIC

namespace nearcache::shmem {
std::string what_passes_by() { return {}; }
std::string what_starts_past_us() { return {}; }
}  // namespace nearcache::shmem

#else

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "base/loaded_objects.h"

namespace nearcache::shmem {
namespace {

using Names = std::set<std::string, std::less<>>;

// Functions whose wrapper does something, and those that may be called unseen: queries, and calls
// that initialise OpenSHMEM.
const Names& seen_names() {
  static const Names names{
#define NEARCACHE_SEEN(name) #name,
#define NEARCACHE_UNWATCHED(name)
#include "seen_symbols.inc"
#undef NEARCACHE_SEEN
#undef NEARCACHE_UNWATCHED
  };
  return names;
}
const Names& unwatched_names() {
  static const Names names{
#define NEARCACHE_SEEN(name)
#define NEARCACHE_UNWATCHED(name) #name,
#include "seen_symbols.inc"
#undef NEARCACHE_SEEN
#undef NEARCACHE_UNWATCHED
  };
  return names;
}

bool is_function_of_shmem(std::string_view name) {
  return name.starts_with("shmem_") || name.starts_with("shmemx_");
}

// The symbols of one object that concern OpenSHMEM.
struct ShmemSymbols {
  Names defined, imported;

  explicit ShmemSymbols(const LoadedObject& object) {
    for_each_symbol(object, [&](const char* symbol, bool is_defined) {
      const std::string_view name = symbol;
      if (name.starts_with("shmem") || name.starts_with("pshmem") || name.starts_with("SHMEM_") ||
          name == "pstart_pes" || unwatched_names().contains(name) || seen_names().contains(name))
        (is_defined ? defined : imported).emplace(name);
      return true;
    });
  }
  // True for an OpenSHMEM library or a part of one.
  bool is_library(const LoadedObject& object) const {
    return defined.contains("pshmem_init") ||
           (defined.contains("shmem_init") && !imported.contains("pshmem_init")) ||
           object.name().starts_with("mca_") || object.name().starts_with("libmca_");
  }
  // True for a tool, which wraps calls.
  bool wraps() const {
    return std::any_of(defined.begin(), defined.end(),
                       [](const std::string& name) { return is_function_of_shmem(name); });
  }
};

// `shmem_barrier_all_` and `SHMEM_BARRIER_ALL` are how Fortran compilers spell a call; the
// library's variables are upper case, too.
bool is_fortran_call(const std::string& name) {
  if (name.starts_with("SHMEM_CTX_") || name.starts_with("SHMEM_TEAM_")) return false;
  const bool upper =
      name.starts_with("SHMEM_") &&
      std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c); });
  return upper || (name.ends_with('_') && (is_function_of_shmem(name) ||
                                           is_function_of_shmem(std::string_view(name).substr(1))));
}

std::string name_of(const LoadedObject& object) {
  return object.path.empty() ? "the program" : std::string(object.name());
}

// The call of `object` that bypasses us; empty if there is none. `in_front`: its wrappers are
// called before ours.
std::string escape_of(const LoadedObject& object, bool in_front) {
  const ShmemSymbols symbols(object);
  if (symbols.is_library(object)) return {};
  // Its pshmem_ calls are then calls that we made.
  const bool behind = symbols.wraps() && !in_front;
  for (const std::string& name : symbols.imported) {
    if (is_fortran_call(name))
      return name_of(object) + " calls OpenSHMEM from Fortran (" + name +
             "), which Nearcache does not see";
    if (name.starts_with("pshmem")) {
      const std::string call = name.substr(1);
      if (behind || unwatched_names().contains(call)) continue;
      return name_of(object) + " calls " + name + ", which Nearcache does not see" +
             (symbols.wraps() ? " (preload Nearcache before it)" : "");
    }
    if (is_function_of_shmem(name) && !seen_names().contains(name) &&
        !unwatched_names().contains(name))
      return name_of(object) + " calls " + name + ", which Nearcache does not know";
  }
  return {};
}

std::vector<LoadedObject>::const_iterator find_own(const std::vector<LoadedObject>& objects) {
  const void* here = reinterpret_cast<const void*>(&find_own);
  return std::find_if(objects.begin(), objects.end(),
                      [&](const LoadedObject& object) { return object.contains(here); });
}

constexpr const char* const starts[] = {"shmem_init", "shmem_init_thread", "start_pes"};

// The call of the profiling interface by which an object initialises OpenSHMEM; empty if it imports
// none.
std::string profiling_start(const ShmemSymbols& symbols) {
  for (const char* start : starts) {
    std::string name = std::string("p") + start;
    if (symbols.imported.contains(name)) return name;
  }
  return {};
}

}  // namespace

std::string what_starts_past_us() {
  const std::vector<LoadedObject> objects = loaded_objects();
  const auto own = find_own(objects);
  std::vector<ShmemSymbols> symbols;
  symbols.reserve(objects.size());
  for (const LoadedObject& object : objects) symbols.emplace_back(object);
  const auto in_front = static_cast<size_t>(own - objects.begin());
  std::string escape;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i == in_front || symbols[i].is_library(objects[i]) || symbols[i].wraps()) continue;
    for (const char* start : starts) {
      if (!symbols[i].imported.contains(start)) continue;
      size_t taker = 0;
      while (taker < in_front && !symbols[taker].defined.contains(start)) ++taker;
      const std::string call = taker < in_front ? profiling_start(symbols[taker]) : std::string();
      if (call.empty()) return {};  // it may be this object, which calls us
      escape = name_of(objects[taker]) + " calls " + call +
               ", so that Nearcache is not started (preload Nearcache before it)";
    }
    const std::string call = profiling_start(symbols[i]);
    if (!call.empty() && escape.empty())
      escape = name_of(objects[i]) + " calls " + call + ", so that Nearcache is not started";
  }
  return escape;
}

std::string what_passes_by() {
  const std::vector<LoadedObject> objects = loaded_objects();
  const auto own = find_own(objects);
  for (auto object = objects.begin(); object != objects.end(); ++object) {
    if (object == own) continue;
    std::string escape = escape_of(*object, object < own);
    if (!escape.empty()) return escape;
  }
  return {};
}

}  // namespace nearcache::shmem

#endif
