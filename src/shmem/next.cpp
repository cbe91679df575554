#include "shmem/next.h"

#include <dlfcn.h>

#ifdef NEARCACHE_STATIC

// Functions outside of the standard (shmemx_, shmalloc) need not have a twin: those are weak references, and may be null.
#define NEARCACHE_TWIN_0
#define NEARCACHE_TWIN_1 __attribute__((weak))
#define NEARCACHE_NEXT(field, symbol, extension) extern "C" decltype(symbol) p##symbol NEARCACHE_TWIN_##extension;
#include "next_fields.inc"
#undef NEARCACHE_NEXT

// Programs refer to the public functions weakly, which draws no object out of an archive: this does.
extern "C" int nearcache_shmem_impl_caching(void);
[[gnu::used]] static int (*const public_functions)(void) = &nearcache_shmem_impl_caching;

namespace nearcache::shmem {

constinit Next next{
#define NEARCACHE_NEXT(field, symbol, extension) &::p##symbol,
#include "next_fields.inc"
#undef NEARCACHE_NEXT
};

// What has no twin may be in a shared library behind the program.
void next_fill() {
#define NEARCACHE_NEXT(field, symbol, extension) \
  if (extension && !next.field) next.field = reinterpret_cast<decltype(next.field)>(next_symbol(#symbol));
#include "next_fields.inc"
#undef NEARCACHE_NEXT
}
bool next_usable() { return true; }
std::string next_complaint() { return {}; }
void* next_symbol(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }

}  // namespace nearcache::shmem

#else

#include <link.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "base/log.h"

namespace nearcache::shmem {

namespace {

void refuse_call() { log(LogLevel::warning, "the program called an OpenSHMEM function that its OpenSHMEM library lacks"); }

// What a field of the table holds before the table is filled: looks for the library, and goes on there. A program that opens its
// OpenSHMEM library late (Python) comes here first.
template <auto field>
struct First;
template <typename Result, typename... Arguments, Result (*Next::*field)(Arguments...)>
struct First<field> {
  static Result call(Arguments... arguments) {
    next_fill();
    const auto function = next.*field;
    if (function && function != &call) return function(arguments...);
    refuse_call();
    return Result();
  }
};

}  // namespace

constinit Next next{
#define NEARCACHE_NEXT(field, symbol, extension) &First<&Next::field>::call,
#include "next_fields.inc"
#undef NEARCACHE_NEXT
};

namespace {

enum class State { empty, usable, wrong };
std::atomic<State> state{State::empty};
std::mutex filling;

// A library that was opened privately (RTLD_LOCAL, as Python opens its modules) is not in the global order that RTLD_NEXT follows. Held
// for the life of the process.
void* private_library = nullptr;

int add_path(dl_phdr_info* info, size_t, void* list) {
  if (info->dlpi_name && *info->dlpi_name) static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
  return 0;
}

void find_private_library() {
  std::vector<std::string> paths;
  dl_iterate_phdr(add_path, &paths);
  for (const auto& path : paths) {
    void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle && dlsym(handle, "pshmem_init")) {
      private_library = handle;
      return;
    }
    if (handle) dlclose(handle);
  }
}

template <typename Function>
void fill(Function*& field, const char* name, const char* profiling_name) {
  void* found = next_symbol(name);
  if (!found) found = next_symbol(profiling_name);
  field = reinterpret_cast<Function*>(found);
}

void fill_table() {
#define NEARCACHE_NEXT(field, symbol, extension) fill(next.field, #symbol, "p" #symbol);
#include "next_fields.inc"
#undef NEARCACHE_NEXT
}

// Data, unlike functions, may have been copied into the executable, which comes before us: the first one counts.
[[maybe_unused]] void* data_symbol(const char* symbol) {
  void* found = dlsym(RTLD_DEFAULT, symbol);
  return found || !private_library ? found : dlsym(private_library, symbol);
}

}  // namespace

#ifdef NEARCACHE_SHMEM_DEFAULT_CONTEXT
static shmem_ctx_t no_context{};
constinit shmem_ctx_t* default_context = &no_context;

static bool find_default_context() {
  void* found = data_symbol(NEARCACHE_SHMEM_DEFAULT_CONTEXT);
  if (found) default_context = static_cast<shmem_ctx_t*>(found);
  return found != nullptr;
}
#else
static bool find_default_context() { return true; }
#endif

static State find_library() {
  if (!dlsym(RTLD_NEXT, "shmem_init")) find_private_library();
  if (!next_symbol("shmem_init")) return State::empty;
  fill_table();
  return find_default_context() ? State::usable : State::wrong;
}

void* next_symbol(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  return found || !private_library ? found : dlsym(private_library, symbol);
}

void next_fill() {
  if (state.load(std::memory_order_acquire) != State::empty) return;
  const std::lock_guard<std::mutex> guard(filling);
  if (state.load(std::memory_order_relaxed) == State::empty) state.store(find_library(), std::memory_order_release);
}

bool next_usable() {
  next_fill();
  return state.load(std::memory_order_acquire) == State::usable;
}

std::string next_complaint() {
  if (next_usable()) return {};
  return "the program's OpenSHMEM library is not the one that this object was built for; "
         "preload the object for that library (nearcache run finds it)";
}

}  // namespace nearcache::shmem

#endif

// Runs before the program's own constructors; silent when there is no OpenSHMEM (a shell, the launcher).
__attribute__((constructor(101))) static void nearcache_shmem_at_load() { nearcache::shmem::next_fill(); }
