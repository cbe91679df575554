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

#include "base/allowance.h"
#include "mpi/coherence/board.h"
#include "mpi/mpi_api.h"
#include "telemetry/write_tracker.h"

namespace nearcache::mpi {

class CoherentWindow;
class Window;

class Coherence {
 public:
  // --- Creation of windows; collective over `comm`, with the ranks `members` in the world. ---

  // The slot that this rank could give a window of these ranks. Empty, or why there is none.
  std::string propose(const std::vector<int>& members, uint32_t* slot) const;
  // Of a window that all ranks have agreed a slot for. Null if that cannot be had.
  Board* board_for(MPI_Comm comm, const std::vector<int>& members);
  // A window's memory at this rank, whether the window may be coherent or not (`window` null).
  // `allocated`: by MPI. What others can reach otherwise, too, is never kept.
  void exposes(MPI_Win handle, CoherentWindow* window, const void* base, uint64_t bytes,
               bool allocated);
  void no_longer_exposes(MPI_Win handle);
  // Some of it belongs to a window that there is.
  bool is_exposed(const void* base, uint64_t bytes);
  void detached(MPI_Win handle, const void* base);  // a part of a dynamic window's
  // From now on several threads may call: nothing is kept, nor of this rank's memory by others.
  void threads_came();
  void stop();  // collective: before the end of MPI

  // One for all of the process that want to know, as the kernel tells one only.
  WriteTracker* tracker() { return &tracker_; }
  std::mutex& mutex() { return mutex_; }
  Allowance* closing();

  // --- What other calls mean. ---

  // Some rank keeps what it reads of some window of this process. A load or two.
  [[gnu::always_inline]] bool somebody_reads() const {
    const uint32_t count = boards_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      if (Board::has_readers(words_[i])) return true;
    }
    return false;
  }
  // Nor will any, of the windows that there are.
  bool nobody_ever_reads() const { return boards_.load(std::memory_order_relaxed) == 0; }
  // The same by one pair of words: true also where others would have to be looked at.
  [[gnu::always_inline]] bool somebody_may_read() const {
    return Board::has_readers(words_of_readers_.load(std::memory_order_acquire));
  }
  // Others may learn by the call that follows what this rank has done.
  void release() {
    if (somebody_reads()) [[unlikely]]
      publish(true);
  }
  // A call by which nobody learns anything of this rank's stores in a quiet phase: it orders this
  // rank before others' exclusive epochs, or is a put or an accumulate, of which readers are told.
  // New ones are taken notice of.
  void attend() {
    if (somebody_reads()) [[unlikely]]
      publish(false);
  }
  // The call that follows has MPI write to [from, from + bytes) of own memory, perhaps past the
  // processor; until it returns, or at any time after (`later`).
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
  Board* find(const std::vector<int>& members) const;

  static constexpr uint64_t nobody[2] = {0, 0}, somebody[2] = {0, 1};
  std::atomic<const uint64_t*> words_of_readers_{nobody};
  std::atomic<uint32_t> boards_{0};
  std::array<const uint64_t*, most_boards> words_{};  // of each board's readers, at hand
  std::array<std::unique_ptr<Board>, most_boards> board_;
  std::vector<Exposed> exposed_;
  WriteTracker tracker_;
  std::mutex mutex_;  // of exposed memory, and of what coherent windows do in programs with threads
  std::unique_ptr<Allowance> closing_;
};

}  // namespace nearcache::mpi
