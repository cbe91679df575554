// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/next.h"

namespace nearcache::shmem {

void install(NextLayer* layer) {
  static LayerStack<Next>& stack = *new LayerStack<Next>;  // needed until the process ends
  stack.install(layer, &next);
}

}  // namespace nearcache::shmem

#ifdef NEARCACHE_STATIC

#include <dlfcn.h>

// Functions outside the standard (shmemx_, shmalloc) need not have a pshmem_ twin, and those that
// the library lacks have none: these are weak references and may be null.
#define NEARCACHE_TWIN_0
#define NEARCACHE_TWIN_1 __attribute__((weak))
#define NEARCACHE_NEXT(field, symbol, twinless) \
  extern "C" decltype(symbol) p##symbol NEARCACHE_TWIN_##twinless;
#include "next_fields.inc"
#undef NEARCACHE_NEXT

// Programs refer to the public functions weakly, which pulls no object out of an archive. This
// reference does.
extern "C" int nearcache_shmem_impl_caching(void);
[[gnu::used]] static int (*const public_functions)(void) = &nearcache_shmem_impl_caching;

namespace nearcache::shmem {

constinit Next next{
#define NEARCACHE_NEXT(field, symbol, twinless) &::p##symbol,
#include "next_fields.inc"
#undef NEARCACHE_NEXT
};

#ifdef NEARCACHE_SHMEM_DEFAULT_CONTEXT
constinit shmem_ctx_t* default_context = linked_default_context;
#endif
#ifdef NEARCACHE_SHMEM_FINDS_TEAM_WORLD
constinit shmem_team_t* team_world = &SHMEM_TEAM_WORLD;
#endif

// A function without a twin may be in a shared library behind the program.
void next_fill() {
#define NEARCACHE_NEXT(field, symbol, twinless) \
  if (twinless && !next.field)                  \
    next.field = reinterpret_cast<decltype(next.field)>(next_symbol(#symbol));
#include "next_fields.inc"
#undef NEARCACHE_NEXT
}
bool next_usable() { return true; }
std::string next_complaint() { return {}; }
void* next_symbol(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }

}  // namespace nearcache::shmem

#else

#include "base/log.h"
#include "front/library_below.h"

namespace nearcache::shmem {

namespace {

void refuse_call() {
  log(LogLevel::warning,
      "the program called an OpenSHMEM function that its "
      "OpenSHMEM library lacks");
}

// The initial value of a field of the table: looks for the library, then continues there. A program
// that opens its OpenSHMEM library late (Python) gets here first.
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
#define NEARCACHE_NEXT(field, symbol, twinless) &First<&Next::field>::call,
#include "next_fields.inc"
#undef NEARCACHE_NEXT
};

namespace {

using State = LibraryBelow::State;
constinit LibraryBelow below{"pshmem_init"};

void fill_table() {
  const TableFiller filler(below);
#define NEARCACHE_NEXT(field, symbol, twinless) \
  filler.fill(&next.field, #symbol, "p" #symbol, false);
#include "next_fields.inc"
#undef NEARCACHE_NEXT
}

}  // namespace

#ifdef NEARCACHE_SHMEM_DEFAULT_CONTEXT
static shmem_ctx_t no_context{};
constinit shmem_ctx_t* default_context = &no_context;

static bool find_default_context() {
  void* found = below.data(NEARCACHE_SHMEM_DEFAULT_CONTEXT);
  if (found) default_context = static_cast<shmem_ctx_t*>(found);
  return found != nullptr;
}
#else
static bool find_default_context() { return true; }
#endif

#ifdef NEARCACHE_SHMEM_FINDS_TEAM_WORLD
constinit shmem_team_t* team_world = nullptr;

// Without it contexts of teams are passed on uncached; everything else works.
static void find_team_world() {
  team_world = static_cast<shmem_team_t*>(below.data(NEARCACHE_SHMEM_TEAM_WORLD));
}
#else
static void find_team_world() {}
#endif

static State find_library() {
  if (!below.symbol("shmem_init")) return State::missing;
  fill_table();
  find_team_world();
  return find_default_context() ? State::usable : State::wrong;
}

void* next_symbol(const char* symbol) { return below.symbol(symbol); }

void next_fill() { below.look(find_library); }

bool next_usable() {
  next_fill();
  return below.state() == State::usable;
}

std::string next_complaint() {
  if (next_usable()) return {};
  return "the program's OpenSHMEM library is not the one that this object was "
         "built for; "
         "preload the object for that library (nearcache run finds it)";
}

}  // namespace nearcache::shmem

#endif

// Runs before the program's own constructors. Silent if there is no OpenSHMEM (a shell, the
// launcher).
__attribute__((constructor(101))) static void nearcache_shmem_at_load() {
  nearcache::shmem::next_fill();
}
