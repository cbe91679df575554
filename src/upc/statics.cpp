// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/round.h"
#include "nearcache/shmem.h"
#include "upc/internal.h"

namespace nearcache::upc {
namespace {

constexpr Statics& state = runtime.statics;
using Placed = Statics::Placed;

void remember(const Placed& one) {
  if (state.number_placed == state.room) {
    state.room = state.room == 0 ? 64 : 2 * state.room;
    void* table = realloc(state.placed, state.room * sizeof *state.placed);
    if (table == nullptr)
      ncupc_error(nullptr, 0, "start", "no memory for the table of static shared data");
    state.placed = static_cast<Placed*>(table);
  }
  state.placed[state.number_placed++] = one;
}

// Merges a tentative definition with that of another file.
bool placed_before(const Placed& one, const char* name) {
  if (ncupc_is_null(*one.variable)) return false;
  for (size_t i = 0; i < state.number_placed; ++i) {
    const Placed& other = state.placed[i];
    if (other.variable != one.variable) continue;
    if (other.size != one.size || other.count != one.count || other.block != one.block) {
      ncupc_error(one.file, one.line, name,
                  "%zu elements of %zu bytes in blocks of %zu, but %zu of %zu bytes in blocks of "
                  "%zu in %s:%d",
                  one.count, one.size, one.block, other.count, other.size, other.block, other.file,
                  other.line);
    }
    return true;
  }
  return false;
}

void check(const ncupc_module& module) {
#ifdef NCUPC_STRUCT_POINTERS
  constexpr int form = 2;
#else
  constexpr int form = 1;
#endif
  static const char* const forms[] = {"?", "packed", "struct"};
  if (module.form != form) {
    ncupc_error(nullptr, 0, module.name,
                "was compiled with %s pointers to shared, the runtime has %s ones",
                forms[module.form == 2 ? 2 : 1], forms[form]);
  }
  if (module.threads != 0 && module.threads != ncupc_threads) {
    ncupc_error(nullptr, 0, module.name, "was compiled for %d threads, and runs with %d",
                module.threads, ncupc_threads);
  }
}

// Arrays start at a cache line, scalars share one, unless their types need a larger alignment.
size_t aligned_place(size_t bytes, size_t least) {
  const size_t alignment = std::max<size_t>(least, bytes >= 64 ? 64 : 16);
  return round_up(state.place_at, alignment);
}

}  // namespace

size_t measure_statics(int threads) {
  set_threads(threads, 0);
  state.place_at = 0;
  state.measuring = true;
  for (const ncupc_module* module = state.first_module; module != nullptr; module = module->next) {
    if (module->place != nullptr) module->place();
  }
  state.measuring = false;
  return state.place_at;
}

size_t place_statics(size_t start) {
  state.place_at = start;
  for (const ncupc_module* module = state.first_module; module != nullptr; module = module->next)
    check(*module);
  for (const ncupc_module* module = state.first_module; module != nullptr; module = module->next) {
    if (module->place != nullptr) module->place();
  }
  state.placed_end = state.place_at;
  return state.placed_end;
}

namespace {

// Names for reports, only if there is a cache.
void name_all() {
  for (size_t i = 0; i < state.number_placed; ++i) {
    const Placed& one = state.placed[i];
    const size_t bytes = ncupc_localsize(one.count, one.size, one.block);
    nearcache_shmem_name(runtime.arena + ncupc_address(*one.variable), bytes, one.name);
  }
  nearcache_shmem_name(runtime.arena + runtime.heap_start, runtime.arena_bytes - runtime.heap_start,
                       "shared heap");
}

}  // namespace

void initialise_statics() {
  if (ncupc_caching) name_all();
  memset(runtime.arena + control_bytes, 0, state.placed_end - control_bytes);
  free(state.placed);
  state.placed = nullptr;
  for (const ncupc_module* module = state.first_module; module != nullptr; module = module->next) {
    if (module->initialise != nullptr) module->initialise();
  }
}

}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

void ncupc_add_module(ncupc_module* module) {
  *state.last_link = module;
  state.last_link = &module->next;
}

void ncupc_place(ncupc_ptr* variable, const char* name, size_t size, size_t count, size_t block,
                 const char* file, int line) {
  ncupc_place_aligned(variable, name, size, count, block, 1, file, line);
}

void ncupc_place_aligned(ncupc_ptr* variable, const char* name, size_t size, size_t count,
                         size_t block, size_t alignment, const char* file, int line) {
  const size_t bytes = ncupc_localsize(count, size, block);
  if (state.measuring) {
    const size_t place = aligned_place(bytes, std::min(alignment, arena_alignment));
    state.place_at = std::min<size_t>(place + bytes + 1, NCUPC_MAX_ADDRESS);
    return;
  }
  if (alignment > arena_alignment) {
    ncupc_error(file, line, name,
                "an alignment of %zu bytes: that of shared data can be %zu at most", alignment,
                arena_alignment);
  }
  const Placed one{variable, name, size, count, block, file, line};
  if (placed_before(one, name)) {
    if (ncupc_address(*variable) % alignment != 0) {
      ncupc_error(file, line, name, "an alignment of %zu bytes, which another file does not say",
                  alignment);
    }
    return;
  }
  state.place_at = aligned_place(bytes, alignment);
  *variable = ncupc_make(state.place_at, 0, 0);
  state.place_at += std::max<size_t>(bytes, 1);
  if (state.place_at >= NCUPC_MAX_ADDRESS || bytes >= NCUPC_MAX_ADDRESS) {
    ncupc_error(
        file, line, name,
        "static shared data needs more than %llu bytes per thread, which pointers to shared "
        "cannot name",
        static_cast<unsigned long long>(NCUPC_MAX_ADDRESS));
  }
  remember(one);
}

// Runs of adjacent elements on this thread: whole blocks, or the rest of one.
void ncupc_fill(ncupc_ptr variable, const void* initial, size_t number, size_t size, size_t count,
                size_t block) {
  const size_t me = static_cast<size_t>(ncupc_mythread),
               threads = static_cast<size_t>(ncupc_threads);
  const size_t elements = std::min(number, count);
  char* to = runtime.arena + ncupc_address(variable);
  const char* from = static_cast<const char*>(initial);
  if (block == 0) {
    if (me == ncupc_thread(variable)) memcpy(to, from, elements * size);
    return;
  }
  for (size_t first = me * block; first < elements; first += block * threads, to += block * size) {
    memcpy(to, from + first * size, std::min(block, elements - first) * size);
  }
}

}  // extern "C"
