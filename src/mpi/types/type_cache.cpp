// SPDX-License-Identifier: BSD-3-Clause

// Layouts by datatype. Those of predefined types are in a table that is read without a lock. Those
// of the program's own types are attributes of the datatype, which MPI deletes along with it, so
// that a reused handle never finds an old layout.
#include <algorithm>
#include <mutex>

#include "cache/get/layout.h"
#include "mpi/process/insist.h"
#include "mpi/process/next.h"
#include "mpi/types/type_map.h"
#include "mpi/types/type_table.h"

namespace nearcache::mpi {

constinit NamedTypes<Layout> named_types;

namespace {

struct TypeCache {
  std::mutex building;  // held while a layout is made; taken before `mutex`
  std::mutex mutex;     // guards `keyval`, and additions to named_types
  int keyval = MPI_KEYVAL_INVALID;
};

TypeCache& types() {
  static TypeCache& cache = *new TypeCache;  // needed until the process ends
  return cache;
}

Layout* make_layout(MPI_Datatype datatype) {
  TypeMap map;
  if (!read_type_map(datatype, &map)) return nullptr;
  auto* layout = new Layout;
  layout->extent = map.extent;
  layout->blocks = std::move(map.blocks);
  for (const Block& block : layout->blocks) {
    layout->size += block.length;
    const int64_t end = block.offset + static_cast<int64_t>(block.length);
    layout->true_lb =
        &block == &layout->blocks.front() ? block.offset : std::min(layout->true_lb, block.offset);
    layout->true_ub = &block == &layout->blocks.front() ? end : std::max(layout->true_ub, end);
  }
  layout->dense =
      layout->blocks.size() == 1 && static_cast<int64_t>(layout->size) == layout->extent;
  return layout;
}

int copy_no_layout(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int forget_layout(MPI_Datatype, int, void* attribute, void*) {
  if (attribute != nullptr) layout_drop(static_cast<const Layout*>(attribute));
  return MPI_SUCCESS;
}

void remember_named(MPI_Datatype type, const Layout* layout) {
  const std::lock_guard lock(types().mutex);
  named_types.add(type, layout);
}

int layout_keyval() {
  TypeCache& cache = types();
  const std::lock_guard lock(cache.mutex);
  if (cache.keyval == MPI_KEYVAL_INVALID)
    next.Type_create_keyval(copy_no_layout, forget_layout, &cache.keyval, nullptr);
  return cache.keyval;
}

bool known_layout(MPI_Datatype datatype, int keyval, const Layout** layout) {
  void* attribute = nullptr;
  int found = 0;
  if (next.Type_get_attr(datatype, keyval, &attribute, &found) != MPI_SUCCESS || found == 0)
    return false;
  *layout = static_cast<const Layout*>(attribute);
  return true;
}

const Layout* derived_layout(MPI_Datatype datatype) {
  const int keyval = layout_keyval();
  if (keyval == MPI_KEYVAL_INVALID || datatype == MPI_DATATYPE_NULL) return nullptr;
  const Layout* kept = nullptr;
  if (known_layout(datatype, keyval, &kept)) return kept;
  const std::lock_guard building(types().building);
  if (known_layout(datatype, keyval, &kept)) return kept;
  Layout* made = make_layout(datatype);
  const bool named = is_named(datatype);
  if (made != nullptr) made->permanent = named;
  const Layout* layout = made == nullptr ? nullptr : layout_intern(made);
  if (named) {
    if (layout != nullptr) remember_named(datatype, layout);
    return layout;
  }
  // A layout that we cannot read is remembered as null, so that it is tried only once.
  if (next.Type_set_attr(datatype, keyval, const_cast<Layout*>(layout)) != MPI_SUCCESS)
    return nullptr;
  return layout;
}

}  // namespace

void forget_types() {
  TypeCache& cache = types();
  const std::lock_guard lock(cache.mutex);
  free_keyval(next.Type_free_keyval, &cache.keyval);
  named_types.clear();
}

const Layout* large_layout_of(MPI_Datatype datatype) {
  const Layout* layout = named_types.find(datatype);
  return layout != nullptr ? layout : derived_layout(datatype);
}

const Layout* layout_of(MPI_Datatype datatype) {
  const Layout* layout = named_types.find(datatype);
  if (layout != nullptr) return layout;
  layout = derived_layout(datatype);
  return layout == nullptr || layout->blocks.size() <= most_blocks ? layout : nullptr;
}

}  // namespace nearcache::mpi
