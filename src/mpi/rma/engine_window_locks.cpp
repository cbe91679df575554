// SPDX-License-Identifier: BSD-3-Clause

// Passive-target epochs of a window of the engine: locks and flushes.
#include "mpi/rma/engine_window.h"

namespace nearcache::mpi {
namespace {

using rma::LockType;
using rma::Mark;
using rma::Status;

}  // namespace

void EngineWindow::await_turn_in_queue(rma::Agent::Lock* lock, int rank) {
  rma::Agent& agent = station_->agent();
  agent.send(*lock);
  lock->without([&] { agent.wait(&window_->bell(), [&] { return window_->has_turn(rank); }); });
  agent.poll(*lock);  // takes the turn, and informs other threads of what came with it
}

void EngineWindow::await_turns(rma::Agent::Lock* lock) {
  for (const rma::Near& near : window_->nears()) {
    if (near.queued && !window_->lock_is_awaited(near.rank)) await_turn_in_queue(lock, near.rank);
  }
}

void EngineWindow::hand_over(const rma::Near& near) {
  if (!window_->hand_over(near)) return;
  const rma::Agent::Lock lock(&station_->agent());
  window_->tell_freed(near);
  station_->agent().send(lock);
}

// With several threads, epochs are guarded by the agent's lock, so none is opened at once.
bool EngineWindow::lock_near(int type, rma::Near* near, int assert) {
  if ((type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) || near == nullptr ||
      context.threaded || assert != 0 || all_locked_ || starting_ || held() ||
      last_lock.window != nullptr || near->reaches(rma::Near::Reach::messages) || near->in_short ||
      locks_.contains(near->rank))
    return false;
  const auto as = type == MPI_LOCK_SHARED ? rma::LockType::shared : rma::LockType::exclusive;
  if (!near->take_lock(as)) return false;
  if (fenced_) end_fences();
  begin_short(near);
  return true;
}

// Where several threads may lock targets, each waits for its lock. Otherwise a flush of all by a
// thread that holds one would wait for another's, whose holder may be waiting for the former.
int EngineWindow::lock_in_full(int type, int rank, int assert) {
  await_last_lock();
  bool waits = false;
  if (const int wrong = begin_lock(type, rank, assert, &waits); wrong != MPI_SUCCESS) return wrong;
  return waits ? await_lock(rank) : MPI_SUCCESS;
}

// If it is the rank's own, the program may then access its memory by loads and stores.
int EngineWindow::await_lock(int rank) {
  rma::Agent::Lock lock(&station_->agent());
  const Mark mark = window_->lock_now(rank);
  station_->agent().send(lock);
  await_granted(&lock, rank, mark);
  if (window_->lock_is_awaited(rank)) window_->await_lock(rank, false);
  return settled(window_->take_error(rank));
}

// Its error is that of the next call that completes operations there.
void EngineWindow::await_last_lock() {
  if (!context.threaded && last_lock.window == nullptr) return;
  rma::Agent::Lock lock(&station_->agent());
  const LastLock last = last_lock;
  if (last.window == nullptr) return;
  last_lock = {};
  last.window->await_if_due(&lock, last.rank);
}

void EngineWindow::forget_last_lock(int rank) {
  if (last_lock.window == this && last_lock.rank == rank) last_lock = {};
}

void EngineWindow::await_if_due(rma::Agent::Lock* lock, int rank) {
  if (!window_->lock_is_due(rank)) return;
  const Mark mark = window_->flush(rank);
  await_granted(lock, rank, mark);
}

// Waits also if a member is gone: the others still keep each other out.
void EngineWindow::await_granted(rma::Agent::Lock* lock, int rank, Mark mark) {
  await_turn(lock, rank);
  station_->agent().wait(
      *lock, [&] { return window_->reached(rank, mark); }, Step::other, true);
}

int EngineWindow::begin_lock(int type, int rank, int assert, bool* waits) {
  const rma::Agent::Lock lock(&station_->agent());
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) return MPI_ERR_LOCKTYPE;
  if ((assert & ~MPI_MODE_NOCHECK) != 0) return MPI_ERR_ASSERT;
  if (rank != MPI_PROC_NULL && !valid_rank(rank)) return MPI_ERR_RANK;
  if (all_locked_ || starting_ || locked_alone(rank)) return MPI_ERR_RMA_SYNC;
  if (fenced_) end_fences();
  locks_.insert(rank);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const bool no_check = (MPI_MODE_NOCHECK & assert) != 0;
  window_->lock(rank, type == MPI_LOCK_EXCLUSIVE ? LockType::exclusive : LockType::shared,
                no_check);
  *waits = !no_check && (rank == window_->rank() || context.threaded);
  if (*waits) {
    window_->await_lock(rank, true);
  } else if (!no_check) {
    last_lock = {this, rank};
  }
  station_->agent().send(lock);
  return MPI_SUCCESS;
}

int EngineWindow::unlock_in_full(int rank) {
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (rank != MPI_PROC_NULL && !valid_rank(rank)) return MPI_ERR_RANK;
  if (rma::Near* const near = window_->near(rank); near != nullptr && near->in_short) {
    near->in_short = false;
    --short_locks_;
  } else if (locks_.erase(rank) == 0) {
    return MPI_ERR_RMA_SYNC;
  }
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  forget_last_lock(rank);
  close(rank);
  if (!window_->transferred(rank))
    station_->agent().wait(lock, [&] { return window_->transferred(rank); });
  const Mark mark = window_->unlock(rank);
  await_turn(&lock, rank);
  station_->agent().wait(
      lock, [&] { return window_->reached(rank, mark); }, Step::unlock);
  return settled(window_->take_error(rank));
}

int EngineWindow::lock_all_in_full(int assert) {
  await_last_lock();
  if (const int wrong = begin_lock_all(assert); wrong != MPI_SUCCESS) return wrong;
  return await_lock(window_->rank());
}

int EngineWindow::begin_lock_all(int assert) {
  const rma::Agent::Lock lock(&station_->agent());
  if ((assert & ~MPI_MODE_NOCHECK) != 0) return MPI_ERR_ASSERT;
  if (all_locked_ || starting_ || !no_locks()) return MPI_ERR_RMA_SYNC;
  if (fenced_) end_fences();
  all_locked_ = true;
  window_->lock_all((MPI_MODE_NOCHECK & assert) != 0);
  return MPI_SUCCESS;
}

int EngineWindow::unlock_all_in_full() {
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (!all_locked_) return MPI_ERR_RMA_SYNC;
  all_locked_ = false;
  for (rma::Near& near : window_->nears()) near.open.store(Open::no, std::memory_order_relaxed);
  await_transfers(lock);
  window_->unlock_all();
  await_turns(&lock);
  station_->agent().wait(
      lock, [&] { return window_->all_reached(); }, Step::unlock);
  return settled(window_->take_error());
}

int EngineWindow::flush_to(int rank, Mark (rma::Window::*begin)(int)) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!valid_rank(rank)) return MPI_ERR_RANK;
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (!passive(rank)) return MPI_ERR_RMA_SYNC;
  const Mark mark = (window_->*begin)(rank);
  if (mark == Mark()) {
    station_->agent().pass(lock, Step::flush);
  } else {
    await_turn(&lock, rank);
    station_->agent().wait(
        lock, [&] { return window_->reached(rank, mark); }, Step::flush);
  }
  const Status status = window_->take_error(rank);
  recent_operations.order(context.threaded);
  if (held()) recent_operations.note_store();  // the next flush is made in full as well
  open(rank);
  return settled(status);
}

int EngineWindow::flush_all() {
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (!all_locked_ && no_locks()) return MPI_ERR_RMA_SYNC;
  recent_operations.order(context.threaded);
  window_->flush_all();
  await_turns(&lock);
  station_->agent().wait(
      lock, [&] { return window_->all_reached(); }, Step::flush);
  return settled(window_->take_error());
}

int EngineWindow::flush_local_all() {
  host_turns.look();
  const rma::Agent::Lock lock(&station_->agent());
  if (!all_locked_ && no_locks()) return MPI_ERR_RMA_SYNC;
  station_->agent().wait(
      lock, [&] { return window_->all_landed(); }, Step::flush);
  return settled(window_->take_error());
}

// Both this thread and the agent use the lock, so each sees what the other has written.
int EngineWindow::sync() {
  host_turns.look();
  const rma::Agent::Lock lock(&station_->agent());
  station_->agent().send(lock);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

}  // namespace nearcache::mpi
