// SPDX-License-Identifier: BSD-3-Clause

// The most recent operations on windows of the engine. The next ones are mostly of the same kind
// and then need not look up their types and operations. Changes only in programs without threads.
#pragma once

#include <atomic>

#include "base/atomic_byte.h"
#include "mpi/mpi_api.h"
#include "rma/elements.h"

namespace nearcache::mpi {

// What an accumulate operation means for a datatype.
struct Computation {
  // For an 8-byte element: operations that take a few instructions.
  enum class OfWord : uint8_t { other, nothing, replace, add };

  MPI_Op op{};
  MPI_Datatype type{};
  rma::Operation operation = rma::Operation::no_op;
  rma::Element element = rma::Element::bytes;
  OfWord of_word = OfWord::other;
  size_t size = 0;  // of an element, in bytes
};

struct RecentOperations {
  // A predefined type without gaps; `words` elements of it make 8 bytes.
  MPI_Datatype word{};
  int words = 0;
  MPI_Datatype swapped{};  // an 8-byte type, for compare-and-swap
  Computation computation;
  // Since the last order(), this rank has written memory of others by stores, or the engine has had
  // something to send. A flush must then take care of that.
  std::atomic<bool> unsettled{false};

  // Called before the first operation, not when this object is loaded: MPI may be loaded later.
  void begin() {
    if (words != 0) return;
    word = swapped = MPI_INT64_T;
    words = 1;
  }
  // Returns true if both ends are as many elements of the same type as made up 8 bytes last time.
  [[gnu::always_inline]] bool is_word(MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                                      MPI_Datatype target_type) const {
    return type == word && target_type == type && count == words && target_count == count;
  }
  [[gnu::always_inline]] void note_store() { unsettled.store(true, std::memory_order_relaxed); }
  [[gnu::always_inline]] bool are_unsettled() const { return !equals<false>(unsettled); }
  // Orders all memory accesses before it ahead of all after it, as every processor sees them. On
  // x86 only ordering stores before loads takes an instruction. `threaded`: includes accesses of
  // other threads.
  [[gnu::always_inline]] void order(bool threaded) {
    std::atomic_thread_fence(std::memory_order_acq_rel);
    if (!are_unsettled() && !threaded) return;
    unsettled.store(false, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
};

inline constinit RecentOperations recent_operations;

}  // namespace nearcache::mpi
