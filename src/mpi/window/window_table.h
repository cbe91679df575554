// SPDX-License-Identifier: BSD-3-Clause

// Looks up windows by handle.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/handle_table.h"
#include "front/handle_bits.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Window;

class WindowTable {
 public:
  // A snapshot of all windows. None of them is deleted during the snapshot's lifetime, though
  // another thread may free it.
  class All {
   public:
    explicit All(const WindowTable& table);
    ~All();
    All(const All&) = delete;
    All& operator=(const All&) = delete;
    auto begin() const { return windows_.begin(); }
    auto end() const { return windows_.end(); }
    size_t size() const { return windows_.size(); }

   private:
    const WindowTable& table_;
    uint64_t moment_;  // windows removed before this moment are not in the snapshot
    std::vector<Window*> windows_;
  };

  // Returns null for a window that is not ours. Lock-free; as in MPI, a window that is being freed
  // must not be used.
  Window* find(MPI_Win handle) const { return table_.find(handle_bits(handle)); }
  void add(MPI_Win handle, Window* window) { table_.add(handle_bits(handle), window); }
  void remove(MPI_Win handle) { table_.remove(handle_bits(handle)); }
  All all() const { return All(*this); }
  // Deletes a removed window once no snapshot can contain it.
  void bury(Window* window);

 private:
  void delete_unseen(std::unique_lock<std::mutex> lock) const;

  HandleTable<Window> table_;
  mutable std::mutex mutex_;  // guards the members below; nothing is called with it held
  mutable uint64_t moment_ = 0;
  mutable std::set<uint64_t> looks_;  // the moment of each live snapshot
  mutable std::vector<std::pair<uint64_t, Window*>> buried_;
};

}  // namespace nearcache::mpi
