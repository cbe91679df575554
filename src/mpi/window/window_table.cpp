#include "mpi/window/window_table.h"

namespace nearcache::mpi {

WindowTable::WindowTable() {
  tables_.push_back(std::make_unique<Table>(64));
  table_.store(tables_.back().get(), std::memory_order_release);
}

// A handle that is gone leaves its slot to the next one that passes, so that programs which create and free windows
// for hours do not fill the table.
void WindowTable::insert(Table* table, uint64_t key, Window* window) {
  Slot* gone = nullptr;
  for (uint64_t slot = hash(key) & table->mask;; slot = (slot + 1) & table->mask) {
    Slot& at = table->slots[slot];
    const uint64_t has = at.key.load(std::memory_order_relaxed);
    if (has == key) {
      at.window.store(window, std::memory_order_release);
      return;
    }
    if (has != empty) {
      if (gone == nullptr && at.window.load(std::memory_order_relaxed) == nullptr) gone = &at;
      continue;
    }
    if (gone == nullptr) {
      gone = &at;
      ++keys_;
    }
    gone->window.store(window, std::memory_order_release);
    gone->key.store(key, std::memory_order_release);
    return;
  }
}

// Handles that are gone are left behind.
void WindowTable::grow() {
  const Table* old = table_.load(std::memory_order_relaxed);
  uint64_t live = 0;
  for (uint64_t slot = 0; slot <= old->mask; ++slot) live += old->slots[slot].window.load(std::memory_order_relaxed) != nullptr;
  uint64_t size = 64;
  while (size < 4 * (live + 1)) size *= 2;
  auto table = std::make_unique<Table>(size);
  keys_ = 0;
  for (uint64_t slot = 0; slot <= old->mask; ++slot) {
    Window* window = old->slots[slot].window.load(std::memory_order_relaxed);
    if (window != nullptr) insert(table.get(), old->slots[slot].key.load(std::memory_order_relaxed), window);
  }
  table_.store(table.get(), std::memory_order_release);
  tables_.push_back(std::move(table));
}

void WindowTable::add(MPI_Win handle, Window* window) {
  const std::lock_guard lock(mutex_);
  if (2 * keys_ > table_.load(std::memory_order_relaxed)->mask) grow();
  insert(table_.load(std::memory_order_relaxed), key_of(handle), window);
}

void WindowTable::remove(MPI_Win handle) {
  const std::lock_guard lock(mutex_);
  if (find(handle) != nullptr) insert(table_.load(std::memory_order_relaxed), key_of(handle), nullptr);
}

std::vector<Window*> WindowTable::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Window*> windows;
  const Table* table = table_.load(std::memory_order_relaxed);
  for (uint64_t slot = 0; slot <= table->mask; ++slot) {
    Window* window = table->slots[slot].window.load(std::memory_order_relaxed);
    if (window != nullptr) windows.push_back(window);
  }
  return windows;
}

}  // namespace nearcache::mpi
