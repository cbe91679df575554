// SPDX-License-Identifier: BSD-3-Clause

// Tells which of the program's buffers are in GPU memory, which only the driver and a GPU-aware MPI
// can read and write.
//
// The driver is asked through its own query function, found by dlsym in a library that the program
// or its MPI has loaded; we load none for this purpose. Without a driver nothing needs to be asked,
// and gets take the fast path (Window::serve_plain_hit), which ignores device memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace nearcache::mpi {

class DeviceMemory {
 public:
  // Checks whether a driver has been loaded by now. GPU-aware MPIs load it in MPI_Init; this check
  // is repeated whenever a window is created.
  void look();
  bool present() const { return present_.load(std::memory_order_relaxed); }

  // Returns whether the processor may read and write the `bytes` bytes at `first`. Thread-safe.
  bool is_host(const void* first, uint64_t bytes) const;

 private:
  std::atomic<bool> present_{false};
};

}  // namespace nearcache::mpi
