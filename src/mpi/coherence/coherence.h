// SPDX-License-Identifier: BSD-3-Clause

// The process-wide part of coherent mode (docs/semantics.md, "Coherent mode"): which windows may be
// coherent, who reads them, and which calls reveal this rank's writes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi/coherence/allowances.h"
#include "mpi/coherence/board.h"
#include "mpi/mpi_api.h"
#include "telemetry/write_tracker.h"

namespace nearcache::mpi {

class CoherentWindow;
class Window;

class Coherence {
 public:
  // --- Creation of windows; collective over `comm`, whose ranks in the world are `members`. ---

  // Sets the slot that this rank could give a window of these ranks. Returns why there is none, or
  // "".
  std::string propose(const std::vector<int>& members, uint32_t* slot) const;
  // Returns the board of a window for which all ranks have agreed on a slot; null if it cannot be
  // created.
  Board* board_for(MPI_Comm comm, const std::vector<int>& members);
  // Registers a window's memory at this rank, whether or not the window may be coherent (`window`
  // is null if not). `changed_unseen`: why it may change without a call or a store of this process,
  // or null. Readers never keep memory that others can also reach in another way.
  void exposes(MPI_Win handle, CoherentWindow* window, const void* base, uint64_t bytes,
               const char* changed_unseen);
  void no_longer_exposes(MPI_Win handle);
  // Nobody keeps anything of other windows that have a part of this memory: others are about to
  // write to it, too.
  void will_expose(const void* base, uint64_t bytes);
  // Returns true if some of it belongs to an existing window.
  bool is_exposed(const void* base, uint64_t bytes);
  void detached(MPI_Win handle, const void* base);  // part of a dynamic window
  // From now on several threads may make calls: this rank keeps nothing, nor do others keep its
  // memory.
  void threads_came();
  void stop();  // collective: before the end of MPI

  // One tracker for all users in the process, because the kernel reports to only one.
  WriteTracker* tracker() { return &tracker_; }
  std::mutex& mutex() { return mutex_; }
  Allowances* allowances();

  // --- Effects of other calls. ---

  // Some rank keeps what it reads of some window of this process. Costs a load or two.
  [[gnu::always_inline]] bool somebody_reads() const {
    const uint32_t count = boards_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      if (Board::has_readers(words_[i])) return true;
    }
    return false;
  }
  // No rank does, nor will any, for the windows that exist now.
  bool nobody_ever_reads() const { return boards_.load(std::memory_order_relaxed) == 0; }
  // Like somebody_reads(), from a single pair of words; also true if others would have to be read.
  [[gnu::always_inline]] bool somebody_may_read() const {
    return Board::has_readers(words_of_readers());
  }
  // Returns that pair, which is valid until a window is created.
  const uint64_t* words_of_readers() const {
    return words_of_readers_.load(std::memory_order_acquire);
  }
  // Others may learn by the call that follows what this rank has done.
  void release() {
    if (somebody_reads()) [[unlikely]]
      publish(true);
  }
  // Called before a call that reveals nothing of this rank's stores in a quiet phase: it orders
  // this rank before others' exclusive epochs, or is a put or an accumulate, which is announced to
  // readers. New readers are acknowledged.
  void attend() {
    if (somebody_reads()) [[unlikely]]
      publish(false);
  }
  // By the collective call that follows, a phase may end (mpi/process/phases.h).
  void meets() {
    if (somebody_reads()) [[unlikely]]
      all_meet();
  }
  // In the call that follows, MPI writes to [from, from + bytes) of this rank's memory, perhaps
  // by DMA: until the call returns or, if `later`, at any time after.
  void receives(const void* from, uint64_t bytes, bool later);

 private:
  static constexpr uint32_t most_boards = 16;

  // Memory of this process that others may write through a window.
  struct Exposed {
    MPI_Win handle;
    CoherentWindow* window;
    uintptr_t begin, end;

    bool has_some_of(uintptr_t from, uintptr_t to) const { return begin < to && from < end; }
  };

  [[gnu::noinline]] void publish(bool releases);
  [[gnu::noinline]] void all_meet();
  bool give_up_windows_with(uintptr_t begin, uintptr_t end);
  Board* find(const std::vector<int>& members) const;

  static constexpr uint64_t nobody[2] = {0, 0}, somebody[2] = {0, 1};
  std::atomic<const uint64_t*> words_of_readers_{nobody};
  std::atomic<uint32_t> boards_{0};
  std::array<const uint64_t*, most_boards> words_{};  // of each board, for fast access
  std::array<std::unique_ptr<Board>, most_boards> board_;
  std::vector<Exposed> exposed_;
  WriteTracker tracker_;
  std::mutex mutex_;  // guards exposed_, and coherent windows in programs with threads
  std::unique_ptr<Allowances> allowances_;
};

}  // namespace nearcache::mpi
