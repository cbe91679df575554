// What is known about predefined datatypes, by handle: read without a lock, because every get asks
// for its layout first.
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
  // Null for a datatype that is not predefined, or not seen yet.
  const Fact* find(MPI_Datatype type) const {
    for (size_t slot = slot_of(type);; slot = (slot + 1) % size) {
      const Fact* fact = slots_[slot].fact.load(std::memory_order_acquire);
      if (fact == nullptr || slots_[slot].type == type) return fact;
    }
  }

  // The caller makes sure that only one thread adds at a time. Beyond half the table nothing is
  // added.
  void add(MPI_Datatype type, const Fact* fact) {
    if (2 * count_ > size || find(type) != nullptr) return;
    size_t slot = slot_of(type);
    while (slots_[slot].fact.load(std::memory_order_relaxed) != nullptr) slot = (slot + 1) % size;
    slots_[slot].type = type;
    slots_[slot].fact.store(fact, std::memory_order_release);
    ++count_;
  }

 private:
  static constexpr int bits = 9;
  static constexpr size_t size = size_t{1} << bits;  // MPI has about 80 predefined types

  struct Slot {
    std::atomic<const Fact*> fact{nullptr};  // set last
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

// The layout of a datatype, or null if it is of a kind that we cannot read. The pointer is good
// while the datatype lives; hold() makes it outlive the datatype. Thread-safe.
const Layout* layout_of(MPI_Datatype datatype);
// The same, and of types of more blocks than are cached, where those may be (type_map.h).
const Layout* large_layout_of(MPI_Datatype datatype);

extern NamedTypes<Layout> named_types;

}  // namespace nearcache::mpi
