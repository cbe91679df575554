// SPDX-License-Identifier: BSD-3-Clause

// Active-target epochs of a window of the engine: fence, post, start, complete and wait.
#include <optional>
#include <utility>

#include "mpi/process/group_ranks.h"
#include "mpi/rma/engine_window.h"

namespace nearcache::mpi {
namespace {

using rma::Status;

}  // namespace

// Afterwards others may be told that what this rank has done is complete.
void EngineWindow::await_transfers(const rma::Agent::Lock& lock) {
  if (!window_->transferred()) station_->agent().wait(lock, [&] { return window_->transferred(); });
}

// A wait has ended because a member is gone. The program has its buffers back: what others send for
// them must not be written any more.
void EngineWindow::give_up_if_broken() {
  if (window_->broken()) station_->engine().give_up(window_, Status::lost_peer);
}

// Returns once all ranks have entered a fence, and their earlier operations are complete.
void EngineWindow::meet() {
  if (window_->all_near()) {
    if (!window_->silent() || held()) {
      const rma::Agent::Lock lock(&station_->agent());
      window_->flush_all();
      wait_until(lock, [&] { return window_->all_reached(); });
      give_up_if_broken();
    }
    window_->fence_enter();
    return wait_until(&window_->bell(), [&] { return window_->fence_met(); });
  }
  const rma::Agent::Lock lock(&station_->agent());
  await_transfers(lock);
  window_->fence_enter();
  wait_until(
      lock, [&] { return window_->fence_met() && window_->all_landed(); }, Step::fence);
  give_up_if_broken();
}

int EngineWindow::fence(int assert) {
  constexpr int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  if ((assert & ~known) != 0) return MPI_ERR_ASSERT;
  if (all_locked_ || !no_locks() || starting_ || exposing_) return MPI_ERR_RMA_SYNC;
  host_turns.pass();
  meet();
  // Memory that is accessed without involving its owner.
  if (const uint64_t fence = window_->fence_to_be_over(); fence > 0) {
    for (const rma::Near& near : window_->nears()) {
      if (near.commons == nullptr) continue;
      wait_until(&near.commons->over, [&] { return rma::Window::fence_over(near, fence); });
    }
  }
  if ((MPI_MODE_NOSUCCEED & assert) == 0) {
    fenced_ = true;
  } else if (fenced_) {
    end_fences();
  }
  if (window_->silent() && !window_->broken()) return MPI_SUCCESS;
  const rma::Agent::Lock lock(&station_->agent());
  return settled(window_->take_error());
}

// Locks the epochs. No lock is needed if they consist of shared words only and there is one thread.
std::optional<rma::Agent::Lock> EngineWindow::lock_epochs() const {
  if (window_->all_near() && window_->silent() && !window_->broken() && !context.threaded &&
      !held())
    return std::nullopt;
  return std::optional<rma::Agent::Lock>(std::in_place, &station_->agent());
}

int EngineWindow::start(MPI_Group group, int assert) {
  const GroupRanks targets(group, group_);
  {
    const auto lock = lock_epochs();
    if ((assert & ~MPI_MODE_NOCHECK) != 0) return MPI_ERR_ASSERT;
    if (starting_ || all_locked_ || !no_locks()) return MPI_ERR_RMA_SYNC;
    if (!targets.known()) return MPI_ERR_GROUP;
    if ((MPI_MODE_NOCHECK & assert) == 0 && !window_->all_near() &&
        !window_->started(targets.all()))
      wait_until(
          *lock, [&] { return window_->started(targets.all()); }, Step::start);
  }
  if ((MPI_MODE_NOCHECK & assert) == 0 && window_->all_near())
    wait_until(&window_->bell(), [&] { return window_->started(targets.all()); });
  const auto lock = lock_epochs();
  starting_ = true;
  if (fenced_) end_fences();
  started_.assign(targets.all().begin(), targets.all().end());
  return window_->broken() ? settled(Status::lost_peer) : MPI_SUCCESS;
}

int EngineWindow::complete() {
  host_turns.pass();
  const auto lock = lock_epochs();
  if (!starting_) return MPI_ERR_RMA_SYNC;
  // With shared words, nothing tells a target how much is in flight.
  if (lock && window_->all_near()) {
    window_->flush_all();
    station_->agent().wait(*lock, [&] { return window_->all_reached(); });
  }
  if (lock) await_transfers(*lock);
  window_->complete(started_);
  if (lock) {
    wait_until(
        *lock, [&] { return window_->all_landed(); }, Step::complete);
    give_up_if_broken();
  }
  starting_ = false;
  for (const int rank : started_) close(rank);
  started_.clear();
  return lock ? settled(window_->take_error()) : MPI_SUCCESS;
}

int EngineWindow::post(MPI_Group group, int assert) {
  constexpr int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  const GroupRanks origins(group, group_);
  const auto lock = lock_epochs();
  if ((assert & ~known) != 0) return MPI_ERR_ASSERT;
  if (exposing_) return MPI_ERR_RMA_SYNC;
  if (!origins.known()) return MPI_ERR_GROUP;
  const bool sends = (MPI_MODE_NOCHECK & assert) == 0 && window_->post(origins.all());
  if (lock && sends) station_->agent().send(*lock, Step::post);
  exposing_ = true;
  if (fenced_) end_fences();
  exposed_ = origins.all().size();
  return MPI_SUCCESS;
}

int EngineWindow::wait() {
  host_turns.pass();
  if (!exposing_) return MPI_ERR_RMA_SYNC;
  const auto completed = [&] { return window_->completed_by(exposed_); };
  if (window_->all_near()) wait_until(&window_->bell(), completed);
  const auto lock = lock_epochs();
  if (!window_->all_near()) wait_until(*lock, completed, Step::wait);
  if (lock) station_->agent().send(*lock, Step::wait);
  exposing_ = false;
  return window_->broken() ? settled(Status::lost_peer) : MPI_SUCCESS;
}

int EngineWindow::test(int* flag) {
  host_turns.look();
  const rma::Agent::Lock lock(&station_->agent());
  *flag = 0;
  if (!exposing_) return MPI_ERR_RMA_SYNC;
  station_->agent().poll(lock);
  if (!window_->completed_by(exposed_))
    return window_->broken() ? settled(Status::lost_peer) : MPI_SUCCESS;
  *flag = 1;
  exposing_ = false;
  return MPI_SUCCESS;
}

void EngineWindow::end_fences() {
  fenced_ = false;
  for (rma::Near& near : window_->nears()) near.open.store(Open::no, std::memory_order_relaxed);
}

}  // namespace nearcache::mpi
