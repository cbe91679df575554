// Windows by handle. Every RMA call asks it first, so finding takes no lock and a few instructions.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Window;

class WindowTable {
 public:
  // Null for a window that is not ours. Lock-free; a window being freed must not be used, as in MPI.
  Window* find(MPI_Win handle) const {
    const Table* table = table_.load(std::memory_order_acquire);
    const uint64_t key = key_of(handle);
    for (uint64_t slot = hash(key) & table->mask;; slot = (slot + 1) & table->mask) {
      const Slot& at = table->slots[slot];
      const uint64_t has = at.key.load(std::memory_order_acquire);
      if (has == key) return at.window.load(std::memory_order_acquire);
      if (has == empty) return nullptr;
    }
  }

  void add(MPI_Win handle, Window* window);
  void remove(MPI_Win handle);
  std::vector<Window*> all() const;

  WindowTable();

 private:
  static constexpr uint64_t empty = UINT64_MAX;

  struct Slot {
    std::atomic<uint64_t> key{empty};
    std::atomic<Window*> window{nullptr};  // null: the handle's window is gone
  };
  struct Table {
    explicit Table(uint64_t size) : mask(size - 1), slots(new Slot[size]) {}
    uint64_t mask;
    std::unique_ptr<Slot[]> slots;
  };

  static uint64_t key_of(MPI_Win handle) {
    uint64_t bits = 0;
    static_assert(sizeof(handle) <= sizeof(bits));
    std::memcpy(&bits, &handle, sizeof(handle));
    return bits;
  }
  static uint64_t hash(uint64_t key) { return (key * 0x9e3779b97f4a7c15u) >> 40; }

  void insert(Table* table, uint64_t key, Window* window);
  void grow();

  std::atomic<Table*> table_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_;  // old ones stay, as a reader may be in one; they double, so that is little
  uint64_t keys_ = 0;
};

}  // namespace nearcache::mpi
