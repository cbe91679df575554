// Which buffers of the program are memory of a GPU, which only its driver and a GPU-aware MPI can
// read and write.
//
// The driver knows: it is asked by its own query, found by dlsym in a library that the program or
// its MPI has loaded; none is loaded for the purpose. Without a driver there is nothing to ask, and
// gets take the short way (Window::serve_plain_hit) that knows nothing of this.
#pragma once

#include <atomic>
#include <cstdint>

namespace nearcache::mpi {

class DeviceMemory {
 public:
  // Looks whether a driver is loaded by now. GPU-aware MPIs load it in MPI_Init; it is looked for
  // whenever a window is created.
  void look();
  bool present() const { return present_.load(std::memory_order_relaxed); }

  // Whether the processor may read and write `bytes` bytes from `first` on. Any thread.
  bool is_host(const void* first, uint64_t bytes) const;

 private:
  std::atomic<bool> present_{false};
};

}  // namespace nearcache::mpi
