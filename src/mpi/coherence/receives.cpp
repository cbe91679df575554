// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coherence/receives.h"

#include <algorithm>
#include <cstdint>

#include "mpi/process/next.h"
#include "mpi/types/type_table.h"

namespace nearcache::mpi {
namespace {

using Wide = __int128;  // holds the product of any two 64-bit numbers

// The range from the first byte of the elements to behind the last, in bytes after the buffer;
// initially empty.
struct Hull {
  Wide begin = 0, end = 0;

  void add(Wide from, Wide to) {
    const bool empty = begin == end;
    begin = empty ? from : std::min(begin, from);
    end = empty ? to : std::max(end, to);
  }
};

class Extents {
 public:
  explicit Extents(MPI_Datatype type) {
    if (const Layout* const layout = named_types.find(type); layout != nullptr) {
      known_ = true;
      true_begin_ = layout->true_lb, true_bytes_ = layout->true_ub - layout->true_lb;
      extent_ = layout->extent;
      return;
    }
    known_ = type != MPI_DATATYPE_NULL &&
             next.Type_get_true_extent(type, &true_begin_, &true_bytes_) == MPI_SUCCESS &&
             next.Type_get_extent(type, &lower_, &extent_) == MPI_SUCCESS;
  }
  bool known() const { return known_; }
  // Adds `count` elements that begin `displacement` extents after the buffer.
  void add_to(Hull* hull, Wide displacement, Wide count) const {
    if (count <= 0 || true_bytes_ <= 0) return;
    const Wide first = displacement * extent_ + true_begin_, last = first + (count - 1) * extent_;
    hull->add(std::min(first, last), std::max(first, last) + true_bytes_);
  }

 private:
  bool known_ = false;
  MPI_Aint true_begin_ = 0, true_bytes_ = 0, lower_ = 0, extent_ = 0;
};

void tell(const void* buffer, const Hull& hull, bool later) {
  const Wide begin = static_cast<Wide>(reinterpret_cast<uintptr_t>(buffer)) + hull.begin,
             bytes = hull.end - hull.begin;
  if (bytes == 0) return;
  if (begin < 0 || begin + bytes > static_cast<Wide>(UINTPTR_MAX))
    return tell_received_anywhere(later);
  context.coherence.receives(reinterpret_cast<const void*>(static_cast<uintptr_t>(begin)),
                             static_cast<uint64_t>(bytes), later);
}

bool between_groups(MPI_Comm comm) {
  int inter = 0;
  return next.Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter != 0;
}

// The number of ranks that send to each rank; 0 if unknown, as between two groups.
int senders(MPI_Comm comm) {
  int ranks = 0;
  return comm == MPI_COMM_NULL || between_groups(comm) ||
                 next.Comm_size(comm, &ranks) != MPI_SUCCESS
             ? 0
             : ranks;
}

bool is_root(int root, MPI_Comm comm) {
  int rank = MPI_PROC_NULL;
  return comm != MPI_COMM_NULL && !between_groups(comm) &&
         next.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

void tell_elements(const void* buffer, Wide count, MPI_Datatype type, bool later) {
  if (buffer == MPI_IN_PLACE || count <= 0) return;
  const Extents elements(type);
  if (!elements.known() || count > INT64_MAX) return tell_received_anywhere(later);
  Hull hull;
  elements.add_to(&hull, 0, count);
  tell(buffer, hull, later);
}

template <class Count, class Displacement>
void tell_displaced(const void* buffer, const Count* counts, const Displacement* displacements,
                    MPI_Datatype type, MPI_Comm comm, bool later) {
  const int ranks = senders(comm);
  if (ranks == 0 || counts == nullptr || displacements == nullptr)
    return tell_received_anywhere(later);
  if (buffer == MPI_IN_PLACE ||
      std::all_of(counts, counts + ranks, [](Count count) { return count <= 0; }))
    return;
  const Extents elements(type);
  if (!elements.known()) return tell_received_anywhere(later);
  Hull hull;
  for (int i = 0; i < ranks; ++i) elements.add_to(&hull, displacements[i], counts[i]);
  tell(buffer, hull, later);
}

template <class Count>
void tell_all(const void* buffer, const Count* counts, MPI_Datatype type, MPI_Comm comm,
              bool later) {
  const int ranks = senders(comm);
  if (ranks == 0 || counts == nullptr) return tell_received_anywhere(later);
  Wide sum = 0;
  for (int i = 0; i < ranks; ++i) sum += std::max<Count>(counts[i], 0);
  tell_elements(buffer, sum, type, later);
}

}  // namespace

void tell_received(const void* buffer, MPI_Count count, MPI_Datatype type, bool later) {
  tell_elements(buffer, count, type, later);
}

void tell_received_each(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                        bool later) {
  const int ranks = senders(comm);
  if (ranks == 0) return tell_received_anywhere(later);
  tell_elements(buffer, static_cast<Wide>(count) * ranks, type, later);
}

void tell_received_displaced(const void* buffer, const int* counts, const int* displacements,
                             MPI_Datatype type, MPI_Comm comm, bool later) {
  tell_displaced(buffer, counts, displacements, type, comm, later);
}

void tell_received_all(const void* buffer, const int* counts, MPI_Datatype type, MPI_Comm comm,
                       bool later) {
  tell_all(buffer, counts, type, comm, later);
}

#ifdef NEARCACHE_HAS_Alltoallv_c
void tell_received_displaced(const void* buffer, const MPI_Count* counts,
                             const MPI_Aint* displacements, MPI_Datatype type, MPI_Comm comm,
                             bool later) {
  tell_displaced(buffer, counts, displacements, type, comm, later);
}

void tell_received_all(const void* buffer, const MPI_Count* counts, MPI_Datatype type,
                       MPI_Comm comm, bool later) {
  tell_all(buffer, counts, type, comm, later);
}
#endif

void tell_received_anywhere(bool later) { context.coherence.receives(nullptr, UINT64_MAX, later); }

bool receives_at_root(int root, MPI_Comm comm) { return root == MPI_ROOT || is_root(root, comm); }

bool receives_from_root(int root, MPI_Comm) { return root != MPI_ROOT && root != MPI_PROC_NULL; }

bool receives_but_at_root(int root, MPI_Comm comm) {
  return receives_from_root(root, comm) && !is_root(root, comm);
}

}  // namespace nearcache::mpi
