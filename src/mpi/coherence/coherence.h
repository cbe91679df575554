// Coherent mode (docs/semantics.md, "Coherent mode"): what of it concerns the whole process. Which windows have readers, and what calls tell of this rank's writes.
#pragma once

#include <cstdint>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Coherence {
 public:
  // Some rank keeps what it reads of some window of this process.
  bool somebody_reads() const { return false; }
  // Others may learn by the call that follows what this rank has done.
  void release() {
    if (somebody_reads()) [[unlikely]] release_to_readers();
  }
  // The call that follows has MPI write to [from, from + bytes) of own memory, perhaps past the processor; until it returns, or at any time after (`later`).
  void receives(const void* from, uint64_t bytes, bool later);

 private:
  void release_to_readers() {}
};

inline void Coherence::receives(const void*, uint64_t, bool) {}

}  // namespace nearcache::mpi
