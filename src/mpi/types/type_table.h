// SPDX-License-Identifier: BSD-3-Clause

// What is known about predefined datatypes, by handle. Read without a lock, because every get needs
// a layout first.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "cache/get/layout.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

template <class Fact>
class NamedTypes {
 public:
  // Returns null for a datatype that is not predefined, or that has not been seen yet.
  const Fact* find(MPI_Datatype type) const {
    for (size_t slot = slot_of(type);; slot = (slot + 1) % size) {
      const Fact* fact = slots_[slot].fact.load(std::memory_order_acquire);
      if (fact == nullptr || slots_[slot].type == type) return fact;
    }
  }

  // The caller must ensure that only one thread adds at a time. Adds nothing once the table is half
  // full.
  void add(MPI_Datatype type, const Fact* fact) {
    if (2 * count_ > size || find(type) != nullptr) return;
    size_t slot = slot_of(type);
    while (slots_[slot].fact.load(std::memory_order_relaxed) != nullptr) slot = (slot + 1) % size;
    slots_[slot].type = type;
    slots_[slot].fact.store(fact, std::memory_order_release);
    ++count_;
  }

  // Forgets all. The caller must ensure that no thread uses the table.
  void clear() {
    for (Slot& slot : slots_) slot.fact.store(nullptr, std::memory_order_relaxed);
    count_ = 0;
  }

 private:
  static constexpr int bits = 9;
  static constexpr size_t size = size_t{1} << bits;  // MPI has about 80 predefined types

  struct Slot {
    std::atomic<const Fact*> fact{nullptr};  // written last
    MPI_Datatype type{};
  };

  static size_t slot_of(MPI_Datatype type) {
    uint64_t key = 0;
    static_assert(sizeof(type) <= sizeof(key));
    std::memcpy(&key, &type, sizeof(type));
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> (64 - bits));
  }

  Slot slots_[size];
  size_t count_ = 0;
};

// Returns the layout of a datatype, or null if we cannot read its kind. The pointer is valid while
// the datatype exists; layout_hold() extends its life. Thread-safe.
const Layout* layout_of(MPI_Datatype datatype);
// Like layout_of(), but also accepts types with more blocks than are cached, if those are allowed
// (type_map.h).
const Layout* large_layout_of(MPI_Datatype datatype);

// MPI ends: forgets its handles.
void forget_types();

extern NamedTypes<Layout> named_types;

}  // namespace nearcache::mpi
