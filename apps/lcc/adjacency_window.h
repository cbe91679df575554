// The adjacency lists of all ranks as one MPI window.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "graph.h"
#include "row_pointers.h"

namespace lcc {

/// Open for gets (lock_all) from construction to destruction; the memory is never written in that time, which
/// the info key `nearcache_mode=always` promises to a caching layer. Other libraries ignore the key.
class AdjacencyWindow {
 public:
  /// Collective. pre: `graph` outlives the window and does not move.
  AdjacencyWindow(MPI_Comm comm, const Graph& graph);
  /// Collective. Ranks may come here at different times.
  ~AdjacencyWindow();
  AdjacencyWindow(const AdjacencyWindow&) = delete;
  AdjacencyWindow& operator=(const AdjacencyWindow&) = delete;

  bool is_own(const Row& row) const { return row.target == rank_; }
  const Vertex* own(const Row& row) const { return memory_ + row.displacement; }

  /// Fetches a list of another rank into `into` (row.degree entries), complete on return. Throws Failure.
  void get(const Row& row, Vertex* into) {
    const auto count = static_cast<int>(row.degree);
    check(MPI_Get(into, count, MPI_UINT32_T, row.target, static_cast<MPI_Aint>(row.displacement), count, MPI_UINT32_T,
                  window_),
          "MPI_Get");
    check(MPI_Win_flush(row.target, window_), "MPI_Win_flush");
  }

 private:
  static void check(int code, const char* call) {
    if (code != MPI_SUCCESS) fail(code, call);
  }
  [[noreturn]] static void fail(int code, const char* call);

  int rank_;
  const Vertex* memory_;
  MPI_Win window_ = MPI_WIN_NULL;  // stays null on one rank: nobody would use it, and Open MPI 4 refuses to create it
};

}  // namespace lcc
