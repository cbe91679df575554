// SPDX-License-Identifier: BSD-3-Clause
#include "node_window.h"

#include <algorithm>

#include <fmt/core.h>

#include "../common/agreement.h"
#include "../common/nearcache_calls.h"
#include "../common/promise.h"

namespace barnes_hut {

NodeWindow::NodeWindow(MPI_Comm comm, std::uint64_t block) : block_(block) {
  MPI_Comm_rank(comm, &rank_);
}

NodeWindow::~NodeWindow() { free(); }

void NodeWindow::free() {
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void NodeWindow::create(MPI_Comm comm, std::uint64_t bytes) {
  if (bytes / unit_bytes > place_end)
    apps::agree(comm, fmt::format("{} bytes of nodes on one rank are too many", bytes));
  free();
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (apps::promise) MPI_Info_set(info, "nearcache_mode", "user");
  const int created =
      MPI_Win_allocate(static_cast<MPI_Aint>(bytes), unit_bytes, info, comm, &memory_, &window_);
  MPI_Info_free(&info);
  apps::agree(comm, apps::error_of([&] { apps::check(created, "MPI_Win_allocate"); }));
  bytes_ = bytes;
  MPI_Win_set_name(window_, "tree");
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  apps::agree(
      comm, apps::error_of([&] { apps::check(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all"); }));
}

void NodeWindow::begin_tree(MPI_Comm comm, std::uint64_t bodies) {
  // The same size on all ranks, so that no block extends beyond the end of a window.
  std::uint64_t needed = most_node_bytes(bodies, block_);
  check(MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");
  // A quarter more than needed: bodies move between ranks, and a new window starts with an empty
  // cache.
  if (needed > bytes_) create(comm, (needed + needed / 4 + block_ - 1) / block_ * block_);
  placement_ = Placement(block_);
}

void NodeWindow::end_tree(MPI_Comm comm) {
  check(MPI_Win_sync(window_), "MPI_Win_sync");
  check(MPI_Barrier(comm), "MPI_Barrier");
  check(MPI_Win_sync(window_), "MPI_Win_sync");
}

void NodeWindow::end_reading() {
  if (apps::promise) apps::invalidate(window_);
}

void NodeWindow::fail(int code, const char* call) {
  apps::check(code, call);
  throw apps::Failure(call);  // not reached: `code` is an error
}

}  // namespace barnes_hut
