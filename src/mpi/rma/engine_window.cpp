// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/engine_window.h"

#include <utility>

#include "base/log.h"
#include "mpi/process/info_value.h"
#include "mpi/process/next.h"
#include "mpi/rma/fetches.h"
#include "mpi/rma/layer.h"

namespace nearcache::mpi {
namespace {

using rma::Status;

}  // namespace

EngineWindow::~EngineWindow() { next.Group_free(&group_); }

int EngineWindow::report_error(int rc) const {
  below_engine().Win_call_errhandler(handle_, rc);
  return rc;
}

int EngineWindow::settled(Status status) const {
  const auto lost = [&](const char* what) {
    log(LogLevel::warning, "one-sided communication failed: %s%s", what,
        station_->engine().why_lost().c_str());
    return MPI_ERR_OTHER;
  };
  switch (status) {
    case Status::ok:
      return MPI_SUCCESS;
    case Status::out_of_range:
      return MPI_ERR_RMA_RANGE;
    case Status::bad_operation:
      return MPI_ERR_OP;
    case Status::not_locked:
      return MPI_ERR_RMA_SYNC;
    case Status::no_window:
      return MPI_ERR_WIN;
    case Status::lost_peer:
      return lost("");
    case Status::half_done:
      return lost(
          "a rank has ended in the middle of an accumulate, so nobody knows what is in the "
          "window: ");
    case Status::lost_lock:
      return lost(
          "a rank has ended while it took or gave back a lock, so nobody knows who has it: ");
  }
  return MPI_ERR_OTHER;
}

int EngineWindow::attach(void* base, MPI_Aint size) {
  const rma::Agent::Lock lock(&station_->agent());
  if (shape_.flavor != MPI_WIN_FLAVOR_DYNAMIC) return MPI_ERR_RMA_FLAVOR;
  if (size < 0) return MPI_ERR_SIZE;
  if (size == 0) return MPI_SUCCESS;
  return window_->exposure().memory().attach(base, static_cast<uint64_t>(size))
             ? MPI_SUCCESS
             : MPI_ERR_RMA_ATTACH;
}

int EngineWindow::detach(const void* base) {
  const rma::Agent::Lock lock(&station_->agent());
  if (shape_.flavor != MPI_WIN_FLAVOR_DYNAMIC) return MPI_ERR_RMA_FLAVOR;
  window_->exposure().memory().detach(base);  // zero-byte attachments are not recorded
  return MPI_SUCCESS;
}

bool EngineWindow::get_attr(int keyval, void* value, int* flag) {
  void* found = keyval == MPI_WIN_BASE            ? shape_.base
                : keyval == MPI_WIN_SIZE          ? static_cast<void*>(&shape_.size)
                : keyval == MPI_WIN_DISP_UNIT     ? static_cast<void*>(&shape_.unit)
                : keyval == MPI_WIN_CREATE_FLAVOR ? static_cast<void*>(&shape_.flavor)
                : keyval == MPI_WIN_MODEL         ? static_cast<void*>(&model_)
                                                  : nullptr;
  if (found == nullptr && keyval != MPI_WIN_BASE) return false;
  *static_cast<void**>(value) = found;
  *flag = 1;
  return true;
}

int EngineWindow::get_group(MPI_Group* group) { return next.Group_excl(group_, 0, nullptr, group); }

// A copy, because the host must not be called under the agent's lock.
Hints EngineWindow::hints() const {
  const rma::Agent::Lock lock(&station_->agent());
  return hints_;
}

int EngineWindow::set_info(MPI_Info info) {
  Hints now = hints();
  now.take(info);
  const int rc = below_engine().Win_set_info(handle_, info);
  if (rc != MPI_SUCCESS) return rc;
  const rma::Agent::Lock lock(&station_->agent());
  hints_ = std::move(now);
  return MPI_SUCCESS;
}

int EngineWindow::get_info(MPI_Info* info) {
  const int rc = below_engine().Win_get_info(handle_, info);
  if (rc != MPI_SUCCESS) return rc;
  // MPICH's key, true of the handle, whose memory it has allocated.
  if (shape_.flavor != MPI_WIN_FLAVOR_ALLOCATE && info_value(*info, "alloc_shm"))
    next.Info_set(*info, const_cast<char*>("alloc_shm"), const_cast<char*>("false"));
  return hints().write_to(*info);
}

// Reports errors of what followed the last fence: nobody else will ask for them.
void EngineWindow::tell_last_error() {
  Status status = Status::ok;
  {
    const rma::Agent::Lock lock(&station_->agent());
    if (!window_->broken()) status = window_->take_error();
  }
  report(settled(status));
}

int EngineWindow::leave() {
  if (all_locked_ || !no_locks() || starting_ || exposing_) return MPI_ERR_RMA_SYNC;
  meet();                         // nobody uses the window any more
  engine_fetches().end(window_);  // of requests that nobody has waited for yet
  tell_last_error();
  return MPI_SUCCESS;
}

void EngineWindow::close() {
  const rma::Agent::Lock lock(&station_->agent());
  station_->engine().close(window_);
}

}  // namespace nearcache::mpi
