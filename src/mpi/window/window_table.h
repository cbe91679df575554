// Windows by handle.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/handle_table.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Window;

class WindowTable {
 public:
  // Null for a window that is not ours. Lock-free; a window being freed must not be used, as in MPI.
  Window* find(MPI_Win handle) const { return table_.find(key_of(handle)); }
  void add(MPI_Win handle, Window* window) { table_.add(key_of(handle), window); }
  void remove(MPI_Win handle) { table_.remove(key_of(handle)); }
  std::vector<Window*> all() const { return table_.all(); }

 private:
  static uint64_t key_of(MPI_Win handle) {
    uint64_t bits = 0;
    static_assert(sizeof(handle) <= sizeof(bits));
    std::memcpy(&bits, &handle, sizeof(handle));
    return bits;
  }

  HandleTable<Window> table_;
};

}  // namespace nearcache::mpi
