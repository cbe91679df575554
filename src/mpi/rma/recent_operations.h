// The most recent operations on windows of the engine: the next ones are mostly of the same
// kind, and then need not look up their types and operations. Changes only in programs without
// threads.
#pragma once

#include <atomic>

#include "mpi/mpi_api.h"
#include "rma/elements.h"

namespace nearcache::mpi {

// What an operation is on a type.
struct Computation {
  // On an element of 8 bytes: what takes a few instructions.
  enum class OfWord : uint8_t { other, nothing, replace, add };

  MPI_Op op{};
  MPI_Datatype type{};
  rma::Operation operation = rma::Operation::no_op;
  rma::Element element = rma::Element::bytes;
  OfWord of_word = OfWord::other;
  size_t size = 0;  // of an element
};

struct RecentOperations {
  // Predefined and without gaps; so many make 8 bytes.
  MPI_Datatype word{};
  int words = 0;
  MPI_Datatype swapped{};  // of 8 bytes, for compare-and-swap
  Computation computation;
  // This rank has written memory of others by stores since the last `order`, or the engine had
  // something to send: what a flush must look at.
  std::atomic<bool> unsettled{false};

  // Before the first. Not when this object is loaded: MPI may be loaded later.
  void begin() {
    if (words != 0) return;
    word = swapped = MPI_INT64_T;
    words = 1;
  }
  // As many elements of a type, at both ends, as were 8 bytes last time.
  [[gnu::always_inline]] bool is_word(MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                                      MPI_Datatype target_type) const {
    return type == word && target_type == type && count == words && target_count == count;
  }
  [[gnu::always_inline]] void note_store() { unsettled.store(true, std::memory_order_relaxed); }
  [[gnu::always_inline]] bool are_unsettled() const {
    return unsettled.load(std::memory_order_relaxed);
  }
  // All before it comes before all after it, in the eyes of all. Only stores before loads take an
  // instruction of x86. `threaded`: those of other threads, too.
  [[gnu::always_inline]] void order(bool threaded) {
    std::atomic_thread_fence(std::memory_order_acq_rel);
    if (!are_unsettled() && !threaded) return;
    unsettled.store(false, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
};

inline constinit RecentOperations recent_operations;

}  // namespace nearcache::mpi
