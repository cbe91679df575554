// SPDX-License-Identifier: BSD-3-Clause

// The fast path of calls: from their entry points straight to the memory of a near target
// (rma/near.h), bypassing the cache and the layers. It serves the two most recently used windows,
// in programs without threads, while nothing in between needs to see their calls: the window is
// paused (mpi/window/pause.h), and the engine is the uppermost layer. There are two kinds:
//
// `straight`: nothing of any window is cached, so that nothing at all is noted.
// `straight_in_pause`: windows are cached, but none can serve anything before its own pause ends or
// its cache is created. What its calls may tell of others is noted when the path is closed, which
// is before that. They note what other calls of a pause note of writes.
//
// Calls first try the path of the last window. One on the window before that exchanges the two and
// begins anew (straight_turns_to), as programs often use two windows in turn.
//
// Code that changes one of these conditions calls rma_look_again(); the next call that reaches the
// engine by the slow path then checks all of them again. Each call checks what may change in the
// meantime: whether a reader must be notified of a write, and the state of the window and the
// target. The last call's target is remembered, as the next call mostly has the same one.
//
// The calls here return true if they have been executed completely. They return false, and nothing
// has happened, if the slow path must be taken, as in rare cases. They call no functions, so that
// they need no registers beyond those of their arguments.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/atomic_byte.h"
#include "mpi/mpi_api.h"
#include "mpi/rma/engine_window.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

template <bool in_pause>
class StraightPath {
 public:
  // Makes the engine's window with this handle, which is `window`, the one that takes the fast
  // path, as it may (Window::passed_by).
  void use(MPI_Win handle, EngineWindow* engine, Window* window) {
    const std::span<rma::Near> row = engine->window()->row();
    const size_t place = !row.empty() && is_left_out(window, row.front().rank) ? 1 : 0;
    forget();
    if (place >= row.size()) return;
    if constexpr (!in_pause) window->writes_pass_untold();
    *this = StraightPath(handle, engine, window, row, &row[place]);
  }
  void forget() {
    if (count_ == 0) return;
    if constexpr (in_pause) {
      context.acquire();
      context.locked();
    }
    *this = StraightPath();
  }

  [[gnu::always_inline]] bool put(const void* origin, MPI_Count count, MPI_Datatype type, int rank,
                                  MPI_Aint displacement, MPI_Count target_count,
                                  MPI_Datatype target_type, MPI_Win handle) {
    std::byte* at;
    if (!recent_operations.is_word(count, type, target_count, target_type) ||
        !is_of(handle, rank) || somebody_may_read() || !find_word(displacement, &at))
      return false;
    recent_operations.note_store();
    std::memcpy(at, origin, sizeof(uint64_t));
    note(TraceWrite::put);
    return true;
  }
  // Gets of a window that is not cached are not counted.
  [[gnu::always_inline]] bool get(void* origin, MPI_Count count, MPI_Datatype type, int rank,
                                  MPI_Aint displacement, MPI_Count target_count,
                                  MPI_Datatype target_type, MPI_Win handle) {
    std::byte* at;
    if (!is_of(handle, rank) ||
        !recent_operations.is_word(count, type, target_count, target_type) ||
        !find_word(displacement, &at) || !takes(type, count))
      return false;
    std::memcpy(origin, at, sizeof(uint64_t));
    return true;
  }
  [[gnu::always_inline]] bool accumulate(const void* origin, MPI_Count count, MPI_Datatype type,
                                         int rank, MPI_Aint displacement, MPI_Count target_count,
                                         MPI_Datatype target_type, MPI_Op op, MPI_Win handle) {
    return is_of(handle, rank) && count == target_count && type == target_type &&
           (count == 1 ? compute(origin, nullptr, type, displacement, op, TraceWrite::accumulate)
                       : compute_many(origin, count, type, displacement, op));
  }
  [[gnu::always_inline]] bool fetch_and_op(const void* origin, void* result, MPI_Datatype type,
                                           int rank, MPI_Aint displacement, MPI_Op op,
                                           MPI_Win handle) {
    return is_of(handle, rank) && result != nullptr &&
           compute(origin, result, type, displacement, op, TraceWrite::fetch);
  }
  [[gnu::always_inline]] bool compare_and_swap(const void* origin, const void* compare,
                                               void* result, MPI_Datatype type, int rank,
                                               MPI_Aint displacement, MPI_Win handle) {
    std::byte* at;
    if (!is_of(handle, rank) || type != recent_operations.swapped ||
        !find_word(displacement, &at) || somebody_may_read())
      return false;
    rma::Mutex& elements = near_->commons->elements;
    if (!elements.try_lock(engine_->process())) return false;
    note(TraceWrite::fetch);
    // `result` may alias `compare`
    const bool swaps = std::memcmp(at, compare, sizeof(uint64_t)) == 0;
    std::memcpy(result, at, sizeof(uint64_t));
    if (swaps) std::memcpy(at, origin, sizeof(uint64_t));
    elements.unlock();
    return true;
  }

  [[gnu::always_inline]] bool flush(int rank, MPI_Win handle) {
    if (!is_of(handle, rank) || !equals<rma::Near::Open::passive>(near_->open) || !may_complete() ||
        !host_turns.passes_fast())
      return false;
    if (recent_operations.are_unsettled()) [[unlikely]] {
      if (below_->holds()) return false;
      recent_operations.order(false);
    }
    std::atomic_thread_fence(std::memory_order_acq_rel);  // a compiler barrier on x86
    synced(Targets::one(static_cast<uint32_t>(rank)));
    return true;
  }
  [[gnu::always_inline]] bool lock(int type, int rank, int assert, MPI_Win handle) {
    const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
    if (!is_of(handle, rank) || (!exclusive && type != MPI_LOCK_SHARED) || assert != 0 ||
        near_->reaches(rma::Near::Reach::messages) || somebody_may_read() ||
        !engine_->lock_at_once(*near_,
                               exclusive ? rma::LockType::exclusive : rma::LockType::shared))
      return false;
    if (exclusive) context.phases.locked();
    window_->epochs().lock(static_cast<uint32_t>(rank), exclusive);
    window_->flush_passed();
    return true;
  }
  [[gnu::always_inline]] bool unlock(int rank, MPI_Win handle) {
    if (!is_of(handle, rank) || !near_->in_short || somebody_may_read() ||
        !engine_->may_unlock_at_once(*near_) || !may_complete() || !host_turns.passes_fast())
      return false;
    window_->epochs().unlock(static_cast<uint32_t>(rank));
    synced(Targets::one(static_cast<uint32_t>(rank)));
    engine_->unlock_at_once(*near_);
    return true;
  }
  bool lock_all(int assert, MPI_Win handle) {
    if (!is_of(handle) || !engine_->lock_all_at_once(assert)) return false;
    window_->epochs().lock_all();
    window_->flush_passed();
    return true;
  }
  bool unlock_all(MPI_Win handle) {
    if (!is_of(handle) || readers_may_join() || !may_complete() || !host_turns.passes_fast() ||
        !engine_->unlock_all_at_once())
      return false;
    window_->epochs().unlock_all();
    synced(Targets::all());
    return true;
  }

  constexpr StraightPath() = default;

  // Whether a call on this window that was not executed here may still be one of the following.
  bool is_of(MPI_Win handle) const { return handle == handle_ && count_ != 0; }

  // Handle any number of elements; out of line (straight.cpp). The datatype is that of
  // recent_operations.word, and the operation, at the current target, the last one, respectively.
  bool get_many(void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
                MPI_Count target_count, MPI_Datatype target_type, MPI_Win handle);
  bool compute_many(const void* origin, MPI_Count count, MPI_Datatype type, MPI_Aint displacement,
                    MPI_Op op) const;

 private:
  StraightPath(MPI_Win handle, EngineWindow* engine, Window* window, std::span<rma::Near> row,
               rma::Near* near)
      : handle_(handle),
        first_(static_cast<unsigned>(row.front().rank)),
        count_(static_cast<unsigned>(row.size())),
        row_(row.data()),
        near_rank_(near->rank),
        near_(near),
        below_(&engine->below()),
        readers_(context.phases.word_of_readers()),
        keepers_(context.coherence.words_of_readers()),
        engine_(engine),
        window_(window) {}

  // A pause does not count gets from the rank itself.
  static bool is_left_out(const Window* window, int rank) {
    return in_pause && rank == window->identity().rank;
  }
  // Also checks, or switches to, the target, which then is the current one.
  [[gnu::always_inline]] bool is_of(MPI_Win handle, int rank) {
    if (handle != handle_) return false;
    if (rank == near_rank_) [[likely]]
      return true;
    return turn_to(rank);
  }
  [[gnu::always_inline]] bool turn_to(int rank) {
    const unsigned place = static_cast<unsigned>(rank) - first_;
    if (place >= count_) return false;
    if (is_left_out(window_, rank)) return false;
    near_rank_ = rank;
    near_ = &row_[place];
    return true;
  }
  // Whether a rank may have to be told of a write. Like Phases::somebody_may_read(), with one load
  // fewer.
  [[gnu::always_inline]] bool somebody_may_read() const {
    return __atomic_load_n(readers_, __ATOMIC_RELAXED) != 0 || readers_may_join();
  }
  // Whether a rank may want to keep what it reads of some window, which this one has to
  // acknowledge.
  [[gnu::always_inline]] bool readers_may_join() const {
    return in_pause && Board::has_readers(keepers_);
  }
  // Whether the get may go on without being noted.
  [[gnu::always_inline]] bool takes(MPI_Datatype type, MPI_Count count) const {
    return !in_pause || (!readers_may_join() && window_->pause_takes(type, count));
  }
  // A synchronisation completes nothing that was noted; it has completed what there was.
  [[gnu::always_inline]] bool may_complete() const {
    return !in_pause || !window_->wrote_before_pause();
  }
  [[gnu::always_inline]] void synced(Targets targets) const {
    window_->flush_passed();
    if constexpr (in_pause) window_->completed_in_pause(targets);
  }
  // Locates a word of the current target if an epoch is open; returns false if that is not known
  // here.
  [[gnu::always_inline]] bool find_word(MPI_Aint displacement, std::byte** at) const {
    return !equals<rma::Near::Open::no>(near_->open) && near_->has_word(displacement, at);
  }
  // Like find_word(), for `bytes` bytes (not 0); returns null instead of false.
  std::byte* find(MPI_Aint displacement, uint64_t bytes) const {
    const bool open = !equals<rma::Near::Open::no>(near_->open);
    return open ? near_->at(displacement, bytes) : nullptr;
  }
  [[gnu::always_inline]] void note(TraceWrite kind) const {
    if (kind == TraceWrite::fetch) window_->fetch_begins();
    if constexpr (in_pause) window_->write_passes(near_rank_);
    window_->count_write(kind);
  }
  [[gnu::always_inline]] bool compute(const void* origin, void* result, MPI_Datatype type,
                                      MPI_Aint displacement, MPI_Op op, TraceWrite kind) const {
    using OfWord = Computation::OfWord;
    const Computation& last = recent_operations.computation;
    std::byte* at;
    if (op != last.op || type != last.type || last.of_word == OfWord::other ||
        !find_word(displacement, &at) || somebody_may_read())
      return false;
    rma::Mutex& elements = near_->commons->elements;
    if (!elements.try_lock(engine_->process())) return false;
    note(kind);
    uint64_t word, data;
    std::memcpy(&word, at, sizeof word);
    if (result != nullptr) std::memcpy(result, &word, sizeof word);
    if (last.of_word != OfWord::nothing) {
      std::memcpy(&data, origin, sizeof data);
      word = last.of_word == OfWord::add ? word + data : data;
      std::memcpy(at, &word, sizeof word);
    }
    elements.unlock();
    return true;
  }

  // What an erroneous call finds that names the handle and the target of a closed path. Nothing is
  // open or in reach, and nobody reads. So each call asks near_ before it uses engine_ or window_,
  // which are null.
  static constexpr int nobody = INT_MIN;
  static inline constinit rma::Near nothing_near{};
  static constexpr uint64_t no_readers[2] = {0, 0};

  MPI_Win handle_{};
  unsigned first_ = 0, count_ = 0;  // near targets, which lie in a row; 0: the fast path is closed
  rma::Near* row_ = nullptr;
  // the current target
  int near_rank_ = nobody;
  rma::Near* near_ = &nothing_near;
  const rma::Engine* below_ = nullptr;
  const uint64_t* readers_ = no_readers;
  const uint64_t* keepers_ = no_readers;
  EngineWindow* engine_ = nullptr;
  Window* window_ = nullptr;
};

inline constinit StraightPath<false> straight, straight_before;
inline constinit StraightPath<true> straight_in_pause, straight_in_pause_before;

// If the window used before the last one has this handle, its path becomes the first to be tried.
[[gnu::always_inline]] inline bool straight_turns_to(MPI_Win handle) {
  if (straight_before.is_of(handle)) [[unlikely]]
    return std::swap(straight, straight_before), true;
  if (straight_in_pause_before.is_of(handle)) [[unlikely]]
    return std::swap(straight_in_pause, straight_in_pause_before), true;
  return false;
}

}  // namespace nearcache::mpi
