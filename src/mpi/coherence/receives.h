// Coherent mode: where MPI will write to own memory in a call that receives. The generated entry
// points announce it before they pass the call on, if anybody reads windows of this process. The
// range announced covers everything that the call may write, and may be larger.
#pragma once

#include "mpi/mpi_api.h"
#include "mpi/process/context.h"

namespace nearcache::mpi {

// Whether anybody wants to know; of a persistent request, whether anybody may later, when it is
// started.
inline bool receives_are_told() noexcept { return context.coherence.somebody_reads(); }
inline bool persistent_receives_are_told() noexcept {
  return !context.coherence.nobody_ever_reads();
}

// `count` elements at `buffer`. A buffer may be MPI_IN_PLACE, which receives nothing of its own, or
// MPI_BOTTOM. `later`: the call may return before it has received.
void tell_received(const void* buffer, MPI_Count count, MPI_Datatype type, bool later);

// As many from each rank of `comm`, one after the other.
void tell_received_each(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                        bool later);

// Of rank i counts[i] elements, displacements[i] extents behind `buffer`.
void tell_received_displaced(const void* buffer, const int* counts, const int* displacements,
                             MPI_Datatype type, MPI_Comm comm, bool later);

// The sum of `counts`, of which there is one for each rank.
void tell_received_all(const void* buffer, const int* counts, MPI_Datatype type, MPI_Comm comm,
                       bool later);

#ifdef NEARCACHE_HAS_Alltoallv_c
void tell_received_displaced(const void* buffer, const MPI_Count* counts,
                             const MPI_Aint* displacements, MPI_Datatype type, MPI_Comm comm,
                             bool later);
void tell_received_all(const void* buffer, const MPI_Count* counts, MPI_Datatype type,
                       MPI_Comm comm, bool later);
#endif

// Anywhere.
void tell_received_anywhere(bool later);

// Whether a rank receives by a collective call that has a root: which alone does; or whose group
// does not, where that is another one; or which does not itself either. Arguments of a receive may
// be anything where there is none.
bool receives_at_root(int root, MPI_Comm comm);
bool receives_from_root(int root, MPI_Comm comm);
bool receives_but_at_root(int root, MPI_Comm comm);

}  // namespace nearcache::mpi
