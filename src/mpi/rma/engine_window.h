// SPDX-License-Identifier: BSD-3-Clause

// A window whose one-sided communication is done by the engine: MPI's calls on it, with their
// epochs and errors.
//
// Its handle is a window of the host MPI on this rank alone, so that names, attributes, info, error
// handlers and the handle's Fortran form are handled by the host. Queries that such a window would
// answer wrongly are answered here.
//
// Operations on predefined types at a near target (rma/near.h) in an epoch known to be open, and
// the calls that complete them, are executed at once: they check nothing else and take no lock of
// this process. All other calls are executed in full.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/rma/elements_of.h"
#include "mpi/rma/hints.h"
#include "mpi/rma/host_turns.h"
#include "mpi/rma/recent_operations.h"
#include "mpi/rma/station.h"
#include "mpi/types/type_table.h"

namespace nearcache::mpi {

struct OriginBuffer {
  const void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

struct ResultBuffer {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
};

struct Target {
  int rank;
  MPI_Aint displacement;
  MPI_Count count;
  MPI_Datatype type;
};

class EngineWindow;

// The last lock of one target that was requested and may not be held yet, of any window. A lock is
// requested with the first operation, but a rank that waits for one must not hold a later one:
// programs that lock several targets may do so in the same order everywhere. With several threads
// there is none, as each waits for its lock at once.
struct LastLock {
  EngineWindow* window = nullptr;
  int rank = 0;
};
inline constinit LastLock last_lock;

class EngineWindow {
 public:
  struct Shape {
    void* base;
    MPI_Aint size;
    int unit;
    int flavor;
  };

  // Takes ownership of the handle and the group. `shared`: the window's memory, if it is in the
  // arena.
  EngineWindow(Station* station, MPI_Win handle, MPI_Group group, rma::Window* window,
               const Shape& shape, std::byte* shared, Hints hints)
      : station_(station),
        handle_(handle),
        group_(group),
        window_(window),
        shape_(shape),
        shared_(shared),
        engine_(&station->engine()),
        process_(engine_->process()),
        hints_(std::move(hints)) {
    recent_operations.begin();
  }
  ~EngineWindow();
  EngineWindow(const EngineWindow&) = delete;
  EngineWindow& operator=(const EngineWindow&) = delete;
  // Returns the window's memory if it is in the arena, else null.
  std::byte* shared() const { return shared_; }

  // Calls the window's error handler if `rc` is an error. Must not be called with the lock held:
  // the handler belongs to the program and may use the window.
  int report(int rc) const { return rc == MPI_SUCCESS ? rc : report_error(rc); }

  // The MPI calls of the same names. Each returns an error class to pass to report().
  int put(const OriginBuffer& origin, const Target& target) {
    uint64_t bytes;
    std::byte* const at = at_once(origin.type, origin.count, target, &bytes);
    if (at == nullptr) {
      return moved_at_once(rma::Kind::put, const_cast<void*>(origin.address), origin.count,
                           origin.type, target)
                 ? MPI_SUCCESS
                 : put_in_full(origin, target);
    }
    recent_operations.note_store();
    std::memcpy(at, origin.address, bytes);
    return MPI_SUCCESS;
  }
  int get(void* address, MPI_Count count, MPI_Datatype type, const Target& target) {
    uint64_t bytes;
    const std::byte* const at = at_once(type, count, target, &bytes);
    if (at == nullptr) {
      return moved_at_once(rma::Kind::get, address, count, type, target)
                 ? MPI_SUCCESS
                 : get_in_full(address, count, type, target);
    }
    std::memcpy(address, at, bytes);
    return MPI_SUCCESS;
  }
  int accumulate(const OriginBuffer& origin, const Target& target, MPI_Op op) {
    return compute_at_once(origin, nullptr, target, op)
               ? MPI_SUCCESS
               : accumulate_in_full(origin, nullptr, target, op);
  }
  int get_accumulate(const OriginBuffer& origin, void* result, MPI_Count result_count,
                     MPI_Datatype result_type, const Target& target, MPI_Op op) {
    const ResultBuffer to{result, result_count, result_type};
    return result_type == target.type && result_count == target.count && result != nullptr &&
                   compute_at_once(origin, result, target, op)
               ? MPI_SUCCESS
               : accumulate_in_full(origin, &to, target, op);
  }
  int fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                   MPI_Aint displacement, MPI_Op op);
  int compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                       int rank, MPI_Aint displacement);
  // Makes the request of the operation that was just issued with result `rc`, if that is success.
  int make_request(int rc, int rank, bool fetches, MPI_Request* request);

  int fence(int assert);
  int start(MPI_Group group, int assert);
  int complete();
  int post(MPI_Group group, int assert);
  int wait();
  int test(int* flag);
  int lock(int type, int rank, int assert) {
    return lock_near(type, window_->near(rank), assert) ? MPI_SUCCESS
                                                        : lock_in_full(type, rank, assert);
  }
  int unlock(int rank) {
    rma::Near* const near = window_->near(rank);
    if (near == nullptr || !may_unlock_at_once(*near)) return unlock_in_full(rank);
    unlock_at_once(*near);
    host_turns.pass();
    return MPI_SUCCESS;
  }
  int lock_all(int assert) {
    return lock_all_at_once(assert) ? MPI_SUCCESS : lock_all_in_full(assert);
  }
  int unlock_all() {
    if (!unlock_all_at_once()) return unlock_all_in_full();
    host_turns.pass();
    return MPI_SUCCESS;
  }
  int flush(int rank) {
    return flush_at_once(rank) ? MPI_SUCCESS : flush_to(rank, &rma::Window::flush);
  }
  int flush_all();
  int flush_local(int rank) {
    if (held() || !open_as(rank, Open::passive) || !host_turns.passes())
      return flush_to(rank, &rma::Window::flush_local);
    std::atomic_thread_fence(std::memory_order_acquire);
    return MPI_SUCCESS;
  }
  int flush_local_all();
  int sync();

  // Shortcuts used by the above. They return true if the call has been executed completely, or
  // false if it must be made in full; then nothing has happened. Those for single words call no
  // function, so that they need no registers beyond those of their arguments.
  [[gnu::always_inline]] bool put_word(const void* address, MPI_Count count, MPI_Datatype type,
                                       int rank, MPI_Aint displacement, MPI_Count target_count,
                                       MPI_Datatype target_type) {
    std::byte* at;
    if (!recent_operations.is_word(count, type, target_count, target_type) ||
        !find_word(rank, displacement, &at))
      return false;
    recent_operations.note_store();
    std::memcpy(at, address, sizeof(uint64_t));
    return true;
  }
  [[gnu::always_inline]] bool get_word(void* address, MPI_Count count, MPI_Datatype type, int rank,
                                       MPI_Aint displacement, MPI_Count target_count,
                                       MPI_Datatype target_type) {
    std::byte* at;
    if (!recent_operations.is_word(count, type, target_count, target_type) ||
        !find_word(rank, displacement, &at))
      return false;
    std::memcpy(address, at, sizeof(uint64_t));
    return true;
  }
  [[gnu::always_inline]] bool flush_at_once(int rank) {
    if (!window_->in_row(rank) || held() ||
        window_->of_row(rank).open.load(std::memory_order_relaxed) != Open::passive ||
        !host_turns.passes())
      return false;
    recent_operations.order(context.threaded);
    return true;
  }
  // Like the above, for taking and releasing locks; also return false in rare cases.
  [[gnu::always_inline]] bool lock_at_once(rma::Near& near, rma::LockType type) {
    if (context.threaded || all_locked_ || starting_ || fenced_ || !locks_.empty() || held() ||
        last_lock.window != nullptr || near.reaches(rma::Near::Reach::messages) || near.in_short ||
        !near.take_lock(type))
      return false;
    begin_short(&near);
    return true;
  }
  [[gnu::always_inline]] bool may_unlock_at_once(const rma::Near& near) const {
    return near.in_short && near.open.load(std::memory_order_relaxed) == Open::passive && !held();
  }
  [[gnu::always_inline]] void unlock_at_once(rma::Near& near) {
    near.open.store(Open::no, std::memory_order_relaxed);
    near.in_short = false;
    --short_locks_;
    if (near.give_back_lock()) [[unlikely]]
      hand_over(near);
  }
  [[gnu::always_inline]] bool lock_all_at_once(int assert) {
    if (context.threaded || assert != 0 || all_locked_ || starting_ || !no_locks() || fenced_ ||
        held() || last_lock.window != nullptr)
      return false;
    rma::Near& own = window_->own();
    if (!own.take_lock(rma::LockType::shared)) return false;
    own.open.store(Open::passive, std::memory_order_relaxed);
    all_locked_ = true;
    window_->lock_all(false);
    return true;
  }
  [[gnu::always_inline]] bool unlock_all_at_once() {
    if (context.threaded || !all_locked_ || !window_->silent() || held()) return false;
    all_locked_ = false;
    window_->lock_all(true);
    for (rma::Near& near : window_->nears()) {
      near.open.store(Open::no, std::memory_order_relaxed);
      if (near.locked && near.give_back_lock()) hand_over(near);
    }
    return true;
  }
  // Returns true if the engine is holding back messages to other ranks, for any window, until more
  // of them or a synchronising call follows. Such a call must then be made in full: the program may
  // be using it to wait for others to react to those messages.
  [[gnu::always_inline]] bool held() const { return engine_->holds(); }
  const rma::Engine& below() const { return *engine_; }
  uint32_t process() const { return process_; }

  int attach(void* base, MPI_Aint size);
  int detach(const void* base);
  // Returns false if the attribute is to be answered by the host.
  bool get_attr(int keyval, void* value, int* flag);
  int get_group(MPI_Group* group);
  // Return an error code of the host, which has called the error handler.
  int set_info(MPI_Info info);
  int get_info(MPI_Info* info);
  // Follows MPI-4.1 for windows that are not shared: only this rank's memory is accessible, not
  // that of other ranks. MPI_PROC_NULL stands for the lowest rank.
  template <class Unit>
  int shared_query(int rank, MPI_Aint* size, Unit* unit, void* base) const {
    if (rank != MPI_PROC_NULL && !valid_rank(rank)) return MPI_ERR_RANK;
    const bool own = (rank == MPI_PROC_NULL ? 0 : rank) == window_->rank();
    *size = own ? shape_.size : 0;
    *unit = own ? shape_.unit : 0;
    *static_cast<void**>(base) = own ? shape_.base : nullptr;
    return MPI_SUCCESS;
  }
  // Collective. Afterwards nobody uses the window until one of its ranks does so again. If it does
  // not return MPI_SUCCESS, nothing has happened.
  int leave();
  // After leave(): only the memory that describes the window remains to be freed.
  void close();
  rma::Window* window() const { return window_; }
  // Returns the error class of a status, and logs what was lost.
  int settled(rma::Status status) const;

 private:
  using Open = rma::Near::Open;
  int report_error(int rc) const;

  bool open_as(int rank, Open open) const {
    const rma::Near* const near = window_->near(rank);
    return near != nullptr && near->open.load(std::memory_order_relaxed) == open;
  }
  // Returns the target's memory if an operation on these elements, at both ends, may be executed at
  // once; else null.
  [[gnu::always_inline]] static std::byte* at_once(const rma::Near* near, MPI_Datatype type,
                                                   MPI_Count count, MPI_Aint displacement,
                                                   MPI_Count target_count, MPI_Datatype target_type,
                                                   uint64_t* bytes) {
    if (near == nullptr || near->open.load(std::memory_order_relaxed) == Open::no) return nullptr;
    if (!plain_bytes(type, count, bytes)) return nullptr;
    if (target_type != type || target_count != count) [[unlikely]] {
      uint64_t there;
      if (!plain_bytes(target_type, target_count, &there) || there != *bytes) return nullptr;
    }
    return near->at(displacement, *bytes);
  }
  // The first operation of a lock_all epoch at this target takes its lock. Returns false if that
  // takes more than its word.
  bool enter_at_once(rma::Near* near) {
    if (context.threaded || !all_locked_ || !window_->locks_all() || !window_->silent() ||
        near->reaches(rma::Near::Reach::messages) || near->queued || held() ||
        (!near->locked && !near->take_lock(rma::LockType::shared)))
      return false;
    near->open.store(Open::passive, std::memory_order_relaxed);
    return true;
  }
  std::byte* at_once(MPI_Datatype type, MPI_Count count, const Target& target, uint64_t* bytes) {
    rma::Near* const near = window_->near(target.rank);
    if (near != nullptr && near->open.load(std::memory_order_relaxed) == Open::no &&
        !enter_at_once(near))
      return nullptr;
    std::byte* const at =
        at_once(near, type, count, target.displacement, target.count, target.type, bytes);
    if (at != nullptr && *bytes == sizeof(uint64_t) && target.type == type && !context.threaded)
      recent_operations.word = type, recent_operations.words = static_cast<int>(count);
    return at;
  }
  // Locates a word of an open target among the near ranks in a row. Returns false if there is none.
  [[gnu::always_inline]] bool find_word(int rank, MPI_Aint displacement, std::byte** at) const {
    if (!window_->in_row(rank)) return false;
    const rma::Near& near = window_->of_row(rank);
    return near.open.load(std::memory_order_relaxed) != Open::no && near.has_word(displacement, at);
  }
  // Computes the size of elements of a predefined type without gaps; false for other types.
  [[gnu::always_inline]] static bool plain_bytes(MPI_Datatype type, MPI_Count count,
                                                 uint64_t* bytes) {
    const Layout* const layout = named_types.find(type);
    return layout != nullptr && layout->dense && count >= 0 &&
           !__builtin_mul_overflow(layout->size, static_cast<uint64_t>(count), bytes);
  }
  bool moved_at_once(rma::Kind kind, void* address, MPI_Count count, MPI_Datatype type,
                     const Target& target);
  bool known(MPI_Op op, MPI_Datatype type, Computation* computation);
  bool compute_at_once(const OriginBuffer& origin, void* result, const Target& target, MPI_Op op);
  bool compute_plainly(const rma::Agent::Lock& lock, const OriginBuffer& origin,
                       const ResultBuffer* result, const Target& target, MPI_Op op);
  bool lock_near(int type, rma::Near* near, int assert);
  [[gnu::always_inline]] void begin_short(rma::Near* near) {
    near->in_short = true;
    ++short_locks_;
    near->open.store(Open::passive, std::memory_order_relaxed);
  }
  void hand_over(const rma::Near& near);

  int put_in_full(const OriginBuffer& origin, const Target& target);
  int get_in_full(void* address, MPI_Count count, MPI_Datatype type, const Target& target);
  // `result` is null if nothing is fetched.
  int accumulate_in_full(const OriginBuffer& origin, const ResultBuffer* result,
                         const Target& target, MPI_Op op);
  int lock_in_full(int type, int rank, int assert);
  int begin_lock(int type, int rank, int assert, bool* waits);
  void await_last_lock();
  void forget_last_lock(int rank);
  int await_lock(int rank);
  void await_if_due(rma::Agent::Lock* lock, int rank);
  void await_granted(rma::Agent::Lock* lock, int rank, rma::Mark mark);
  int unlock_in_full(int rank);
  int lock_all_in_full(int assert);
  int begin_lock_all(int assert);
  int unlock_all_in_full();
  int flush_to(int rank, rma::Mark (rma::Window::*begin)(int));
  bool valid_rank(int rank) const { return rank >= 0 && rank < window_->members().size(); }
  bool no_locks() const { return locks_.empty() && short_locks_ == 0; }
  bool locked_alone(int rank) const {
    const rma::Near* const near = window_->near(rank);
    return (near != nullptr && near->in_short) || locks_.contains(rank);
  }
  bool passive(int rank) const { return all_locked_ || locked_alone(rank); }
  bool may_access(int rank) const {
    return fenced_ || passive(rank) || std::ranges::find(started_, rank) != started_.end();
  }
  using Step = rma::Agent::Step;
  // open(): an operation or a flush was made in full, so the next one may be executed at once.
  void open(int rank);
  void close(int rank);
  void end_fences();
  // Returns MPI_SUCCESS, or the error that forbids an access.
  int check(const Target& target) const;
  void issue(const rma::Agent::Lock& lock, rma::Transfer transfer);
  std::optional<rma::Agent::Lock> lock_epochs() const;
  template <class Done>
  void wait_until(const rma::Agent::Lock& lock, Done done, Step step = Step::other) {
    const auto over = [&] { return done() || window_->broken(); };
    station_->agent().wait(lock, over, step, true);
  }
  // If this rank is queued for a near target's lock, sends what is held, and waits for its turn,
  // behind which operations on the target are held. Meanwhile the lock is released.
  void await_turn(rma::Agent::Lock* lock, int rank) {
    if (window_->queued(rank)) [[unlikely]]
      await_turn_in_queue(lock, rank);
  }
  void await_turn_in_queue(rma::Agent::Lock* lock, int rank);
  void await_turns(rma::Agent::Lock* lock);
  void await_transfers(const rma::Agent::Lock& lock);
  // For shared words of near ranks. Must be called without the agent's lock.
  template <class Done>
  void wait_until(rma::Doorbell* bell, Done done) {
    station_->agent().wait(bell, [&] { return done() || window_->broken(); });
  }
  void give_up_if_broken();
  void meet();
  void tell_last_error();
  Hints hints() const;

  Station* station_;
  MPI_Win handle_;
  MPI_Group group_;
  rma::Window* window_;
  Shape shape_;
  std::byte* shared_;
  const rma::Engine* engine_;
  uint32_t process_;
  // Epochs; under the agent's lock, except for what is executed at once.
  bool fenced_ = false;
  bool all_locked_ = false;
  std::set<int> locks_;  // locked ranks, except those whose Near has the lock
  int short_locks_ = 0;  // number of locks held through a Near
  bool starting_ = false, exposing_ = false;
  std::vector<int> started_;  // targets of the access epoch
  size_t exposed_ = 0;        // number of origins of the exposure epoch
  int model_ = MPI_WIN_UNIFIED;
  Hints hints_;  // under the agent's lock
};

}  // namespace nearcache::mpi
