// Which of the program's buffers are GPU memory, which only the driver and a GPU-aware MPI can read
// and write.
//
// The driver knows: it is asked through its own query, found by dlsym in a library that the program
// or its MPI has loaded; none is loaded for this purpose. Without a driver there is nothing to ask,
// and gets take the fast path (Window::serve_plain_hit), which knows nothing of this.
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
