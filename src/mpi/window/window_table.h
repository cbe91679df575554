// Windows by handle.
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
  // All windows of one moment. None of them is deleted while this lives, though another thread may
  // free it.
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
    uint64_t moment_;  // before which what was removed is not among them
    std::vector<Window*> windows_;
  };

  // Null for a window that is not ours. Lock-free; a window being freed must not be used, as in
  // MPI.
  Window* find(MPI_Win handle) const { return table_.find(handle_bits(handle)); }
  void add(MPI_Win handle, Window* window) { table_.add(handle_bits(handle), window); }
  void remove(MPI_Win handle) { table_.remove(handle_bits(handle)); }
  All all() const { return All(*this); }
  // Deletes a window that was removed, once nobody looks at it any more.
  void bury(Window* window);

 private:
  void delete_unseen(std::unique_lock<std::mutex> lock) const;

  HandleTable<Window> table_;
  mutable std::mutex mutex_;  // covers what follows; nothing is called under it
  mutable uint64_t moment_ = 0;
  mutable std::set<uint64_t> looks_;  // of each All, its moment
  mutable std::vector<std::pair<uint64_t, Window*>> buried_;
};

}  // namespace nearcache::mpi
