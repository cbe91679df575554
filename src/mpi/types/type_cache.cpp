// Layouts by datatype: predefined types in a table read without a lock, the program's own as an attribute of the
// datatype, which MPI deletes with it, so that a handle used again never finds an old layout.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "mpi/types/layout.h"
#include "mpi/process/next.h"
#include "mpi/types/type_map.h"
#include "mpi/types/type_table.h"

namespace nearcache::mpi {

constinit NamedTypes named_types;

namespace {

struct TypeCache {
  std::mutex building;  // held while a layout is made; taken before `mutex`
  std::mutex mutex;  // covers all below, and additions to named_types
  int keyval = MPI_KEYVAL_INVALID;
  uint32_t next_id = 1;
  std::unordered_multimap<uint64_t, const Layout*> by_content;
};

TypeCache& types() {
  static TypeCache& cache = *new TypeCache;  // needed until the process ends
  return cache;
}

uint64_t content_hash(const Layout& layout) {
  uint64_t hash = static_cast<uint64_t>(layout.extent) * 0x9e3779b97f4a7c15u;
  for (const Block& block : layout.blocks) {
    hash = (hash ^ static_cast<uint64_t>(block.offset)) * 0xff51afd7ed558ccdu;
    hash = (hash ^ block.length) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 29;
  }
  return hash;
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
    layout->true_lb = &block == &layout->blocks.front() ? block.offset : std::min(layout->true_lb, block.offset);
    layout->true_ub = &block == &layout->blocks.front() ? end : std::max(layout->true_ub, end);
  }
  layout->dense = layout->blocks.size() == 1 && static_cast<int64_t>(layout->size) == layout->extent;
  return layout;
}

// Gives equal layouts one object and one id, so that datatypes built twice share their entries. Null when the ids
// are used up, which takes 2^32 different layouts.
const Layout* intern(Layout* layout) {
  TypeCache& cache = types();
  const std::lock_guard lock(cache.mutex);
  const uint64_t hash = content_hash(*layout);
  const auto [first, last] = cache.by_content.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (it->second->extent != layout->extent || it->second->blocks != layout->blocks) continue;
    // A program may build what is predefined too; then the predefined one serves, or becomes permanent.
    if (layout->permanent) it->second->permanent = true;
    delete layout;
    layout_hold(it->second);
    return it->second;
  }
  if (cache.next_id == UINT32_MAX) {
    delete layout;
    return nullptr;
  }
  layout->id = cache.next_id++;
  cache.by_content.emplace(hash, layout);
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
  if (next.Type_get_attr(datatype, keyval, &attribute, &found) != MPI_SUCCESS || found == 0) return false;
  *layout = static_cast<const Layout*>(attribute);
  return true;
}

const Layout* derived_layout(MPI_Datatype datatype) {
  const int keyval = layout_keyval();
  if (keyval == MPI_KEYVAL_INVALID || datatype == MPI_DATATYPE_NULL) return nullptr;
  const Layout* known = nullptr;
  if (known_layout(datatype, keyval, &known)) return known;
  const std::lock_guard building(types().building);
  if (known_layout(datatype, keyval, &known)) return known;
  Layout* made = make_layout(datatype);
  const bool named = is_named(datatype);
  if (made != nullptr) made->permanent = named;
  const Layout* layout = made == nullptr ? nullptr : intern(made);
  if (named) {
    if (layout != nullptr) remember_named(datatype, layout);
    return layout;
  }
  // A layout that we cannot read is remembered as null, so that it is tried once only.
  if (next.Type_set_attr(datatype, keyval, const_cast<Layout*>(layout)) != MPI_SUCCESS) return nullptr;
  return layout;
}

}  // namespace

const Layout* layout_of(MPI_Datatype datatype) {
  const Layout* layout = named_types.find(datatype);
  if (layout != nullptr) return layout;
  return derived_layout(datatype);
}

void layout_hold(const Layout* layout) {
  if (!layout->permanent) layout->references.fetch_add(1, std::memory_order_relaxed);
}

void layout_drop(const Layout* layout) {
  if (layout->permanent) return;
  TypeCache& cache = types();
  const std::lock_guard lock(cache.mutex);
  if (layout->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const auto [first, last] = cache.by_content.equal_range(content_hash(*layout));
  for (auto it = first; it != last; ++it) {
    if (it->second != layout) continue;
    cache.by_content.erase(it);
    break;
  }
  delete layout;
}

}  // namespace nearcache::mpi
