// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/straight.h"

#include "rma/execute.h"

namespace nearcache::mpi {

template <bool in_pause>
bool StraightPath<in_pause>::get_many(void* origin, MPI_Count count, MPI_Datatype type, int rank,
                                      MPI_Aint displacement, MPI_Count target_count,
                                      MPI_Datatype target_type, MPI_Win handle) {
  if (count != target_count || type != target_type || type != recent_operations.word ||
      count <= 0 || count > INT32_MAX || !is_of(handle, rank))
    return false;
  const uint64_t size = sizeof(uint64_t) / static_cast<uint64_t>(recent_operations.words);
  const uint64_t bytes = size * static_cast<uint64_t>(count);
  const std::byte* const at = find(displacement, bytes);
  if (at == nullptr || !takes(type, count)) return false;
  std::memcpy(origin, at, bytes);
  return true;
}

template <bool in_pause>
bool StraightPath<in_pause>::compute_many(const void* origin, MPI_Count count, MPI_Datatype type,
                                          MPI_Aint displacement, MPI_Op op) const {
  const Computation& last = recent_operations.computation;
  if (op != last.op || type != last.type || last.operation == rma::Operation::no_op || count <= 0 ||
      static_cast<uint64_t>(count) > rma::most_at_a_time / last.size || somebody_may_read())
    return false;
  std::byte* const at = find(displacement, last.size * static_cast<uint64_t>(count));
  if (at == nullptr) return false;
  rma::Mutex& elements = near_->commons->elements;
  if (!elements.lock_intact(engine_->process())) return false;
  rma::apply(last.operation, last.element, at, static_cast<const std::byte*>(origin),
             static_cast<size_t>(count));
  elements.unlock();
  note(TraceWrite::accumulate);
  return true;
}

template class StraightPath<false>;
template class StraightPath<true>;

}  // namespace nearcache::mpi
