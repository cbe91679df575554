// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/next.h"

namespace nearcache::mpi {

void install(RmaLayer* layer) {
  static LayerStack<RmaNext>& stack = *new LayerStack<RmaNext>;  // needed until the process ends
  stack.install(layer, &next);
}

}  // namespace nearcache::mpi

#ifdef NEARCACHE_STATIC

#include <dlfcn.h>

// Functions that not every MPI has are weak references, so their fields may be null.
#define NEARCACHE_NEXT_WEAK_0(symbol)
#define NEARCACHE_NEXT_WEAK_1(symbol) extern "C" decltype(symbol) P##symbol __attribute__((weak));
#define NEARCACHE_NEXT(name, symbol, optional) NEARCACHE_NEXT_WEAK_##optional(symbol)
#include "mpi_next.inc"
#include "rma_next.inc"
#undef NEARCACHE_NEXT

namespace nearcache::mpi {

constinit Next next = [] {
  Next table;
#define NEARCACHE_NEXT(name, symbol, optional) table.name = &::P##symbol;
#include "mpi_next.inc"
#include "rma_next.inc"
#undef NEARCACHE_NEXT
  return table;
}();
#ifdef NEARCACHE_FAMILY_OPENMPI
constinit Predefined predefined = [] {
  Predefined table;
#define NEARCACHE_PREDEFINED(name) table.name = &::name;
#include "predefined.inc"
#undef NEARCACHE_PREDEFINED
  return table;
}();
#endif

void next_fill() {}
bool next_usable() { return true; }
std::string next_complaint() { return {}; }
void* next_symbol(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }

}  // namespace nearcache::mpi

#else

#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "base/log.h"
#include "front/library_below.h"
#include "mpi/process/family.h"

namespace {

// a failure in every MPI: MPI_SUCCESS is 0, and 1 is an error class in all of them
constexpr int refused = 1;

const char* const symbols[] = {
#define NEARCACHE_SYMBOL(name) #name,
#include "symbols.inc"
#undef NEARCACHE_SYMBOL
};
constexpr size_t symbol_count = sizeof symbols / sizeof symbols[0];

}  // namespace

#if NEARCACHE_TRAMPOLINES
extern "C" {
extern void* nearcache_slots[];       // the target of each exported entry point (trampolines.S)
extern void* const nearcache_lazy[];  // stubs that look for the MPI first
__attribute__((visibility("hidden"))) void* nearcache_resolve_entry(unsigned index);
}
#endif

namespace nearcache::mpi {

constinit Next next;
#ifdef NEARCACHE_FAMILY_OPENMPI
constinit Predefined predefined;
#endif

namespace {

using State = LibraryBelow::State;
constinit LibraryBelow below{"PMPI_Init"};

void fill_table() {
  const TableFiller filler(below);
#define NEARCACHE_NEXT(name, symbol, optional) \
  filler.fill(&next.name, #symbol, "P" #symbol, !optional);
#include "mpi_next.inc"
#include "rma_next.inc"
#undef NEARCACHE_NEXT
#ifdef NEARCACHE_FAMILY_OPENMPI
#define NEARCACHE_PREDEFINED(name) predefined.name = below.data(#name);
#include "predefined.inc"
#undef NEARCACHE_PREDEFINED
#endif
}

// Returns a function that every MPI of the family has, but the loaded one lacks.
const char* missing_function() {
#define NEARCACHE_NEXT(name, symbol, optional) \
  if (!optional && !next.name) return #symbol;
#include "mpi_next.inc"
#include "rma_next.inc"
#undef NEARCACHE_NEXT
  return nullptr;
}

int refuse_call() {
  log(LogLevel::warning, "the MPI library of this program lacks a function that the program calls");
  return refused;
}

#if NEARCACHE_TRAMPOLINES
void* const* own_targets() {
  static void* targets[symbol_count];
  static const bool copied = (std::memcpy(targets, nearcache_slots, sizeof targets), true);
  (void)copied;
  return targets;
}

void lead_entries_to_stubs() {
  own_targets();
  std::memcpy(nearcache_slots, nearcache_lazy, symbol_count * sizeof(void*));
}
void lead_entries_to_wrappers() {
  std::memcpy(nearcache_slots, own_targets(), symbol_count * sizeof(void*));
}
void lead_entries_past_us() {
  for (size_t i = 0; i < symbol_count; i++) {
    void* function = next_symbol(symbols[i]);
    nearcache_slots[i] = function ? function : reinterpret_cast<void*>(&refuse_call);
  }
}
#else
void lead_entries_to_stubs() {}
void lead_entries_to_wrappers() {}
void lead_entries_past_us() {}
#endif

// Written once, before the state becomes `wrong`. Not a plain global, because we run before those
// are constructed.
std::string& complaint() {
  static std::string& text = *new std::string;
  return text;
}

void complain_of(std::string text) {
  complaint() = std::move(text);
  if (launched_as_first()) log(LogLevel::warning, "%s", complaint().c_str());
}

State find_mpi() {
  const Family family = loaded_family();
  if (family == Family::none) return State::missing;
  if (family != built_family()) {
    complain_of(std::string("this object is for ") + family_name(built_family()) +
                ", but the program runs with " + family_name(family) +
                ": nothing is cached; preload the object for that MPI (nearcache run finds it)");
    return State::wrong;
  }
  fill_table();
  if (const char* name = missing_function()) {
    complain_of(std::string("the program's MPI has no ") + name +
                ", which the MPI that this object was built for has: nothing is cached; build "
                "Nearcache with that MPI");
    return State::wrong;
  }
  return State::usable;
}

}  // namespace

void* next_symbol(const char* symbol) { return below.symbol(symbol); }

void next_fill() {
  below.look([] {
    const State found = find_mpi();
    if (found == State::usable) lead_entries_to_wrappers();
    if (found == State::wrong) lead_entries_past_us();
    return found;
  });
}

bool next_usable() {
  next_fill();
  return below.state() == State::usable;
}

std::string next_complaint() { return next_usable() ? std::string() : complaint(); }

}  // namespace nearcache::mpi

#if NEARCACHE_TRAMPOLINES
// Called by a stub when no MPI was loaded at startup: returns where the entry point leads now.
void* nearcache_resolve_entry(unsigned index) {
  nearcache::mpi::next_fill();
  if (nearcache::mpi::below.state() == nearcache::LibraryBelow::State::missing)
    return reinterpret_cast<void*>(&nearcache::mpi::refuse_call);
  return nearcache_slots[index];
}
#endif

// Runs before the program's own constructors see MPI. Silent if there is none (a shell, the
// launcher).
__attribute__((constructor(101))) static void nearcache_at_load() {
  nearcache::mpi::lead_entries_to_stubs();
  nearcache::mpi::next_fill();
}

#endif
