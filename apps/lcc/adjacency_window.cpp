#include "adjacency_window.h"

#include "agreement.h"

namespace lcc {

AdjacencyWindow::AdjacencyWindow(MPI_Comm comm, const Graph& graph)
    : rank_(graph.rank), memory_(graph.adjacency.data()) {
  if (graph.partition.ranks() == 1) return;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nearcache_mode", "always");
  const int created = MPI_Win_create(const_cast<Vertex*>(memory_),
                                     static_cast<MPI_Aint>(graph.adjacency.size() * sizeof(Vertex)), sizeof(Vertex),
                                     info, comm, &window_);
  MPI_Info_free(&info);
  agree(comm, error_of([&] { lcc::check(created, "MPI_Win_create"); }));
  MPI_Win_set_name(window_, "adjacency");
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  agree(comm, error_of([&] { lcc::check(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all"); }));
}

AdjacencyWindow::~AdjacencyWindow() {
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void AdjacencyWindow::fail(int code, const char* call) {
  lcc::check(code, call);
  throw Failure(call);  // not reached: `code` is an error
}

}  // namespace lcc
