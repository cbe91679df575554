// Shared by the programs that test MPI's one-sided communication as the standard defines it:
// windows of words, and neighbours.
#ifndef NEARCACHE_TESTS_RMA_WORDS_H
#define NEARCACHE_TESTS_RMA_WORDS_H

#include <algorithm>
#include <span>
#include <vector>

#include "check.h"

using check::rank;
using check::ranks;

inline int next_rank() { return (rank + 1) % ranks; }
inline int rank_before() { return (rank + ranks - 1) % ranks; }

inline int class_of(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}

// A window of this many words, allocated by MPI (--allocated) or the program's own.
struct Words {
  std::vector<int64_t> own;
  std::span<int64_t> memory;
  MPI_Win win;
  explicit Words(size_t count, MPI_Comm comm = check::world) {
    const auto bytes = static_cast<MPI_Aint>(count * 8);
    if (check::listed(check::rest, "--allocated")) {
      int64_t* base = nullptr;
      MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, comm, &base, &win);
      memory = {base, count};
      std::ranges::fill(memory, 0);
    } else {
      own.resize(count);
      memory = own;
      MPI_Win_create(own.data(), bytes, 8, MPI_INFO_NULL, comm, &win);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
  }
  ~Words() { MPI_Win_free(&win); }
};

#endif
