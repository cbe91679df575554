// SPDX-License-Identifier: BSD-3-Clause

// Coherent mode: where MPI will write to this rank's memory in a call that receives. The generated
// entry points announce it before they pass the call on, if some rank reads windows of this
// process. The range announced covers everything that the call may write, and may be larger.
#pragma once

#include "mpi/mpi_api.h"
#include "mpi/process/context.h"

namespace nearcache::mpi {

// Whether receives need to be announced now and, for persistent requests, whether they may need to
// be later, when the request is started.
inline bool receives_are_told() noexcept { return context.coherence.somebody_reads(); }
inline bool persistent_receives_are_told() noexcept {
  return !context.coherence.nobody_ever_reads();
}

// Announces `count` elements at `buffer`, which may be MPI_IN_PLACE (the call receives nothing
// there) or MPI_BOTTOM. `later`: the call may return before it has received.
void tell_received(const void* buffer, MPI_Count count, MPI_Datatype type, bool later);

// Announces as many elements from each rank of `comm`, one block after the other.
void tell_received_each(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                        bool later);

// Announces counts[i] elements from rank i, displacements[i] extents after `buffer`.
void tell_received_displaced(const void* buffer, const int* counts, const int* displacements,
                             MPI_Datatype type, MPI_Comm comm, bool later);

// Announces the sum of `counts`, which has one count per rank.
void tell_received_all(const void* buffer, const int* counts, MPI_Datatype type, MPI_Comm comm,
                       bool later);

#ifdef NEARCACHE_HAS_Alltoallv_c
void tell_received_displaced(const void* buffer, const MPI_Count* counts,
                             const MPI_Aint* displacements, MPI_Datatype type, MPI_Comm comm,
                             bool later);
void tell_received_all(const void* buffer, const MPI_Count* counts, MPI_Datatype type,
                       MPI_Comm comm, bool later);
#endif

// Announces that the call may write anywhere.
void tell_received_anywhere(bool later);

// Whether this rank receives in a collective call with a root: if only the root does; if all ranks
// do (between groups: the group without the root); if all but the root do. Where a rank does not
// receive, its receive arguments may be anything.
bool receives_at_root(int root, MPI_Comm comm);
bool receives_from_root(int root, MPI_Comm comm);
bool receives_but_at_root(int root, MPI_Comm comm);

}  // namespace nearcache::mpi
