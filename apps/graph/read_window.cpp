// SPDX-License-Identifier: BSD-3-Clause
#include "graph/read_window.h"

#include "common/agreement.h"
#include "common/promise.h"

namespace apps {

ReadWindow::ReadWindow(MPI_Comm comm, const Exposed& exposed, const char* name)
    : type_(exposed.type) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  if (ranks == 1) return;
  is_asked_.resize(static_cast<std::size_t>(ranks));
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (apps::promise) MPI_Info_set(info, "nearcache_mode", "always");
  const int created =
      MPI_Win_create(const_cast<void*>(exposed.memory), static_cast<MPI_Aint>(exposed.bytes),
                     exposed.unit, info, comm, &window_);
  MPI_Info_free(&info);
  agree(comm, error_of([&] { apps::check(created, "MPI_Win_create"); }));
  MPI_Win_set_name(window_, name);
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  agree(comm, error_of([&] { apps::check(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all"); }));
}

ReadWindow::~ReadWindow() {
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void ReadWindow::fail(int code, const char* call) {
  apps::check(code, call);
  throw Failure(call);  // not reached: `code` is an error
}

}  // namespace apps
