// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/visibility.h"

#ifdef NEARCACHE_STATIC

namespace nearcache::mpi {
bool creation_is_visible(const void*, std::string*) { return true; }
bool releases_are_visible(const void*, std::string*) { return true; }
bool calls_on_windows_are_visible(std::string*) { return true; }
}  // namespace nearcache::mpi

#else

#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/loaded_objects.h"

namespace nearcache::mpi {
namespace {

using Names = std::set<std::string, std::less<>>;

const char* const exported[] = {
#define NEARCACHE_SYMBOL(name) #name,
#include "symbols.inc"
#undef NEARCACHE_SYMBOL
};

const char* const passed[] = {
#define NEARCACHE_PASSED(name) #name,
#include "passed.inc"
#undef NEARCACHE_PASSED
};

const char* const published[] = {
#define NEARCACHE_PUBLISHED(name) #name,
#include "published.inc"
#undef NEARCACHE_PUBLISHED
};

const char* const on_windows[] = {
#define NEARCACHE_NEXT(name, symbol, optional) #symbol,
#include "rma_next.inc"
#undef NEARCACHE_NEXT
};

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

const Names& our_names() {
  static const Names& names = *new Names(std::begin(exported), std::end(exported));
  return names;
}

// Our C functions that change a window's contents or may be acquires. Excluded are calls that may
// escape us: those that begin and end MPI, those that the cache only passes on, and those that only
// tell others about this rank.
const std::vector<std::string>& watched_calls() {
  static const std::vector<std::string>& calls = *new std::vector<std::string>([] {
    std::vector<std::string> list;
    for (const std::string name : exported)
      if (name.starts_with("MPI_") && name != upper(name) && !name.starts_with("MPI_Init") &&
          !name.starts_with("MPI_Session_") && name != "MPI_Finalize" &&
          std::ranges::find(passed, name) == std::end(passed) &&
          std::ranges::find(published, name) == std::end(published))
        list.push_back(name);
    return list;
  }());
  return calls;
}

// The above, and calls that only tell others about this rank.
const std::vector<std::string>& watched_releases() {
  static const std::vector<std::string>& calls = *new std::vector<std::string>([] {
    std::vector<std::string> list = watched_calls();
    list.insert(list.end(), std::begin(published), std::end(published));
    return list;
  }());
  return calls;
}

// Our calls on windows and requests, also those that the cache only passes on.
const std::vector<std::string>& watched_calls_on_windows() {
  static const std::vector<std::string>& calls = *new std::vector<std::string>([] {
    std::vector<std::string> list;
    for (const char* name : on_windows)
      if (our_names().contains(name)) list.emplace_back(name);
    return list;
  }());
  return calls;
}

// The symbols of one object that concern MPI.
struct MpiSymbols {
  Names defined, imported;

  explicit MpiSymbols(const LoadedObject& object) {
    for_each_symbol(object, [&](const char* name, bool is_defined) {
      if (starts_with(name, "MPI_") || starts_with(name, "PMPI_") || starts_with(name, "mpi_") ||
          starts_with(name, "pmpi"))
        (is_defined ? defined : imported).insert(name);
      return true;
    });
  }
};

// The names of a call's entry points in Fortran: of mpi_f08, and of the other bindings, as
// compilers spell them. Large-count calls have the former only.
struct FortranNames {
  std::vector<std::string> f08, others;

  // `begin` stands for the beginning of all names, "mpi_".
  FortranNames(const std::string& call, const std::string& begin) {
    const bool large = call.ends_with("_c");
    const size_t from = std::strlen("MPI_"), to = call.size() - (large ? std::strlen("_c") : 0);
    const std::string name = begin + lower(call.substr(from, to - from));
    for (const char* form : {"_f08_", "_f08ts_"})
      f08.push_back(name + form + (large ? "large_" : ""));
    if (!large) others = {name, name + "_", name + "__", upper(name)};
  }
};

// Returns a Fortran entry point of `call` in this binding that is neither ours nor ends in an MPI_X
// that we see.
std::optional<std::string> hidden_fortran_name(const MpiSymbols& symbols, const std::string& call) {
  const bool calls_us = symbols.imported.contains(call),
             calls_past_us = symbols.imported.contains("P" + call);
  const auto hidden = [&](const std::string& entry, bool seen) {
    return symbols.defined.contains(entry) && !seen && !our_names().contains(entry);
  };
  const FortranNames names(call, "mpi_");
  for (const std::string& entry : names.f08)
    if (hidden(entry, calls_us && !calls_past_us)) return entry;
  for (const std::string& entry : names.others)
    if (hidden(entry, calls_us)) return entry;
  return std::nullopt;
}

bool is_fortran_binding(const MpiSymbols& symbols) {
  for (const char* name : {"mpi_win_fence_", "mpi_win_fence", "mpi_win_fence__", "MPI_WIN_FENCE",
                           "mpi_win_fence_f08_"})
    if (symbols.defined.contains(name)) return true;
  return false;
}

bool is_mpi_library(const LoadedObject& object, const MpiSymbols& symbols) {
  const std::string_view name = object.name();
  return symbols.defined.contains("PMPI_Init") || name.starts_with("mca_") ||
         name.starts_with("libmca_") || name.starts_with("liboshmem");
}

// It has wrappers of MPI's functions, which call those of PMPI.
bool is_tool(const MpiSymbols& symbols) {
  const auto first = symbols.defined.lower_bound("MPI_");
  return first != symbols.defined.end() && first->starts_with("MPI_");
}

std::string quoted(const LoadedObject& object) {
  return object.path.empty() ? "the program" : std::string(object.name());
}

// An object and its symbols.
struct Object {
  const LoadedObject* object;
  MpiSymbols symbols;
};

// Returns the name by which `symbols` imports PMPI's form of `call` from C or Fortran, if that
// passes us by. Of MPICH, `pmpi_x_` ends in MPI_X, which we see; mpi_f08 has `pmpir_x_f08_`.
std::optional<std::string> pmpi_form(const MpiSymbols& symbols, const std::string& call,
                                     const std::vector<Object>& objects) {
  if (symbols.imported.contains("P" + call)) return "P" + call;
  const FortranNames names(call, "pmpi_");
  for (const auto& f08 : {names.f08, FortranNames(call, "pmpir_").f08})
    for (const std::string& entry : f08)
      if (symbols.imported.contains(entry)) return entry;
  for (const std::string& entry : names.others) {
    const auto leads_to_us = [&](const Object& its) {
      return its.symbols.defined.contains(entry) && its.symbols.imported.contains(call);
    };
    if (symbols.imported.contains(entry) && std::ranges::none_of(objects, leads_to_us))
      return entry;
  }
  return std::nullopt;
}

// Returns why one of `calls` made by `its` escapes us; empty if none does.
// `is_caller_or_in_front`: also what it does as a tool.
std::string escape_of(const Object& its, bool is_caller_or_in_front,
                      const std::vector<std::string>& calls, const std::vector<Object>& objects) {
  const auto& [object, symbols] = its;
  if (is_mpi_library(*object, symbols)) return {};
  if (is_fortran_binding(symbols)) {
    for (const auto& call : calls)
      if (const auto entry = hidden_fortran_name(symbols, call))
        return "the Fortran binding " + quoted(*object) + " has " + *entry +
               ", which Nearcache does not see";
    return {};
  }
  if (symbols.imported.empty() || (!is_caller_or_in_front && is_tool(symbols))) return {};
  for (const auto& call : calls)
    if (const auto form = pmpi_form(symbols, call, objects))
      return quoted(*object) + " calls " + *form + ", which Nearcache does not see" +
             (symbols.defined.contains(call) ? " (preload Nearcache before it)" : "");
  return {};
}

// Returns why one of `calls` may escape us for windows created by objects[caller]; empty if none
// may.
std::string judge(const std::vector<LoadedObject>& objects, size_t caller, size_t own,
                  const std::vector<std::string>& calls) {
  std::vector<Object> loaded;
  loaded.reserve(objects.size());
  for (const LoadedObject& object : objects) loaded.push_back({&object, MpiSymbols(object)});
  if (caller < objects.size() && caller != own &&
      is_mpi_library(objects[caller], loaded[caller].symbols))
    return "it belongs to the MPI library (" + quoted(objects[caller]) + ")";
  for (size_t i = 0; i < loaded.size(); i++) {
    if (i == own) continue;
    std::string escape = escape_of(loaded[i], i < own || i == caller, calls, loaded);
    if (!escape.empty()) return escape;
  }
  return {};
}

size_t find_object(const std::vector<LoadedObject>& objects, const void* address) {
  const auto found = std::find_if(objects.begin(), objects.end(),
                                  [&](const auto& o) { return o.contains(address); });
  return static_cast<size_t>(found - objects.begin());
}

struct Known {
  std::mutex mutex;
  unsigned long long loads = 0;
  std::vector<LoadedObject> objects;
  size_t own = 0;
  // by the calls that matter, and the object that created windows
  std::map<std::pair<const std::vector<std::string>*, size_t>, std::string> reasons;
};

Known& known() {
  static Known& instance = *new Known;  // windows may be created until the very end
  return instance;
}

bool is_visible(const void* caller, const std::vector<std::string>& calls, std::string* why) {
  Known& state = known();
  const std::lock_guard<std::mutex> guard(state.mutex);
  const unsigned long long loads = count_of_loads();
  if (loads != state.loads || state.objects.empty()) {
    state.objects = loaded_objects();
    state.own = find_object(state.objects, reinterpret_cast<const void*>(&creation_is_visible));
    state.reasons.clear();
    state.loads = loads;
  }
  const size_t index = find_object(state.objects, caller);
  auto reason = state.reasons.find({&calls, index});
  if (reason == state.reasons.end()) {
    const std::string judgement = judge(state.objects, index, state.own, calls);
    reason = state.reasons.emplace(std::pair(&calls, index), judgement).first;
  }
  if (reason->second.empty()) return true;
  if (why) *why = reason->second;
  return false;
}

}  // namespace

bool creation_is_visible(const void* caller, std::string* why) {
  return is_visible(caller, watched_calls(), why);
}

bool releases_are_visible(const void* caller, std::string* why) {
  return is_visible(caller, watched_releases(), why);
}

bool calls_on_windows_are_visible(std::string* why) {
  return is_visible(nullptr, watched_calls_on_windows(), why);
}

}  // namespace nearcache::mpi

#endif
