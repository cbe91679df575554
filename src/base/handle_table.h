// SPDX-License-Identifier: BSD-3-Clause

// Maps handles (64-bit keys) to objects. Every call on a handle looks it up here first, so a
// look-up takes no lock and only a few instructions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace nearcache {

template <class Object>
class HandleTable {
 public:
  static constexpr uint64_t no_key = UINT64_MAX, moved_key = UINT64_MAX - 1;  // not handles

  HandleTable() {
    tables_.push_back(std::make_unique<Table>(64));
    table_.store(tables_.back().get(), std::memory_order_release);
  }

  // Returns null for an unknown handle. Lock-free. The caller must ensure that an object is not
  // used once its removal has begun.
  Object* find(uint64_t key) const {
    const Table* table = table_.load(std::memory_order_acquire);
    for (uint64_t slot = hash(key) & table->mask;; slot = (slot + 1) & table->mask) {
      const Slot& at = table->slots[slot];
      const uint64_t has = at.key.load(std::memory_order_acquire);
      if (has == key) {
        Object* object = at.object.load(std::memory_order_acquire);
        // insert() may have reused the slot in the meantime, and the object then belongs to another
        // handle.
        if (at.key.load(std::memory_order_relaxed) == key) [[likely]]
          return object;
      }
      if (has == no_key) return nullptr;
    }
  }

  void add(uint64_t key, Object* object) {
    const std::lock_guard lock(mutex_);
    if (2 * keys_ > table_.load(std::memory_order_relaxed)->mask) grow();
    insert(table_.load(std::memory_order_relaxed), key, object);
  }

  void remove(uint64_t key) {
    const std::lock_guard lock(mutex_);
    if (find(key) != nullptr) insert(table_.load(std::memory_order_relaxed), key, nullptr);
  }

  std::vector<Object*> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Object*> objects;
    const Table* table = table_.load(std::memory_order_relaxed);
    for (uint64_t slot = 0; slot <= table->mask; ++slot) {
      Object* object = table->slots[slot].object.load(std::memory_order_relaxed);
      if (object != nullptr) objects.push_back(object);
    }
    return objects;
  }

 private:
  struct Slot {
    std::atomic<uint64_t> key{no_key};
    std::atomic<Object*> object{nullptr};  // null: the object was removed
  };
  struct Table {
    explicit Table(uint64_t size) : mask(size - 1), slots(new Slot[size]) {}
    uint64_t mask;
    std::unique_ptr<Slot[]> slots;
  };

  static uint64_t hash(uint64_t key) { return (key * 0x9e3779b97f4a7c15u) >> 40; }

  // Reuses the first slot on the probe path whose object was removed, so that programs which create
  // and free windows for hours do not fill the table.
  void insert(Table* table, uint64_t key, Object* object) {
    Slot* gone = nullptr;
    for (uint64_t slot = hash(key) & table->mask;; slot = (slot + 1) & table->mask) {
      Slot& at = table->slots[slot];
      const uint64_t has = at.key.load(std::memory_order_relaxed);
      if (has == key) return at.object.store(object, std::memory_order_release);
      if (has != no_key) {
        if (gone == nullptr && at.object.load(std::memory_order_relaxed) == nullptr) gone = &at;
        continue;
      }
      if (gone == nullptr) {
        gone = &at;
        ++keys_;
      }
      // The stores must be in this order: a reader that still finds the old key checks it again
      // after loading the object, and so notices that the object is not the one it looked for.
      gone->key.store(gone == &at ? no_key : moved_key, std::memory_order_release);
      gone->object.store(object, std::memory_order_release);
      gone->key.store(key, std::memory_order_release);
      return;
    }
  }

  // Moves to a table sized for the live handles; removed ones are not copied.
  void grow() {
    const Table* old = table_.load(std::memory_order_relaxed);
    uint64_t live = 0;
    for (uint64_t slot = 0; slot <= old->mask; ++slot)
      live += old->slots[slot].object.load(std::memory_order_relaxed) != nullptr;
    uint64_t size = 64;
    while (size < 4 * (live + 1)) size *= 2;
    auto table = std::make_unique<Table>(size);
    keys_ = 0;
    for (uint64_t slot = 0; slot <= old->mask; ++slot) {
      Object* object = old->slots[slot].object.load(std::memory_order_relaxed);
      if (object != nullptr)
        insert(table.get(), old->slots[slot].key.load(std::memory_order_relaxed), object);
    }
    table_.store(table.get(), std::memory_order_release);
    tables_.push_back(std::move(table));
  }

  std::atomic<Table*> table_;
  mutable std::mutex mutex_;
  // replaced tables are kept, as a reader may still use one; sizes usually double, so this costs
  // little
  std::vector<std::unique_ptr<Table>> tables_;
  uint64_t keys_ = 0;
};

}  // namespace nearcache
