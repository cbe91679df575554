// Windows by handle.
#pragma once

#include <vector>

#include "base/handle_table.h"
#include "front/handle_bits.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Window;

class WindowTable {
 public:
  // Null for a window that is not ours. Lock-free; a window being freed must not be used, as in
  // MPI.
  Window* find(MPI_Win handle) const { return table_.find(handle_bits(handle)); }
  void add(MPI_Win handle, Window* window) { table_.add(handle_bits(handle), window); }
  void remove(MPI_Win handle) { table_.remove(handle_bits(handle)); }
  std::vector<Window*> all() const { return table_.all(); }

 private:
  HandleTable<Window> table_;
};

}  // namespace nearcache::mpi
