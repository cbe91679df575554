// SPDX-License-Identifier: BSD-3-Clause

// The hidden window of a group of ranks through which coherent windows announce readers and writes
// (docs/semantics.md, "Coherent mode"). Created with the group's first window that may be coherent;
// each such window has a slot in it, with the same number at all ranks.
//
// Announcements are accumulates, which may have to wait for the target's next call of MPI, although
// gets and puts do not (MPICH over UCX within a node, or over InfiniBand). The target may not make
// one before it sees, by loads, a put that this rank has yet to make. So nobody waits for an
// accumulate without end, and nothing is flushed before the window is freed; except where a window
// changes its mode just while it joins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "cache/get/versions.h"
#include "mpi/mpi_api.h"
#include "mpi/process/hidden_window.h"

namespace nearcache::mpi {

// A window's state at one rank, in that rank's memory.
struct Slot {
  uint64_t joined, left;  // counts of ranks that have begun, and ended, keeping what they read
  uint64_t acked;         // the value of `joined` that this rank has acknowledged
  uint64_t unused[3];
  VersionWords words;
};

class Board {
 public:
  static constexpr uint32_t slots = 32;

  // Collective over `comm`, whose ranks in the world are `members`. `ready` is false if the hidden
  // window could not be created.
  Board(MPI_Comm comm, std::vector<int> members);
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  void free();  // collective
  bool ready() const { return memory_ != nullptr; }

  const std::vector<int>& members() const { return members_; }
  uint32_t ranks() const { return static_cast<uint32_t>(members_.size()); }

  // The lowest slot from which on all are unused at this rank. The maximum over all ranks is free
  // everywhere.
  uint32_t first_free() const { return first_free_; }
  void take(uint32_t slot);
  // Frees the slot. Call once no rank can send anything to it any more.
  void give_back(uint32_t slot);

  // Returns two words that are equal unless some rank keeps what it reads of some window.
  const uint64_t* readers() const { return &memory_->joined; }
  [[gnu::always_inline]] static bool has_readers(const uint64_t* words) {
    return load(&words[1]) != load(&words[0]);
  }
  Slot& slot(uint32_t slot) const { return memory_->slots[slot]; }
  [[gnu::always_inline]] static uint64_t load(const uint64_t* word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
  }
  static void store(uint64_t* word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
  }

  // Announces a reader to all ranks. Once the requests are complete, the first of `numbers` are the
  // values of each rank's `joined` before the announcement.
  void join(uint32_t slot, std::vector<uint64_t>* numbers, std::vector<MPI_Request>* requests);
  // The requests must be complete: a `left` that overtakes its `joined` would hide another reader.
  void leave(uint32_t slot);
  // Reads what each of `targets` has acknowledged; all zero if that fails.
  void read_acked(uint32_t slot, const std::vector<uint32_t>& targets,
                  std::vector<uint64_t>* acked);
  // Reads the version words of `targets`; those of unwatched memory if that fails.
  void read(uint32_t slot, const std::vector<uint32_t>& targets, std::vector<VersionWords>* words);

  // Reads where the memory of a target begins (VersionWords::lead); 0 if that fails.
  uint64_t read_lead(uint32_t slot, uint32_t target);

  // Counts this rank as a writer of these regions of a target: readers know of it when this
  // returns. Returns false if the target does not make the call that its MPI needs for that; then
  // readers take all its memory for lost.
  bool open(uint32_t slot, uint32_t target, uint64_t regions);
  // Counts this rank no longer as a writer. Readers know of it some time later.
  void close(uint32_t slot, uint32_t target, uint64_t regions);
  // Waits until everything has arrived. Called by all ranks of the window.
  void wait_for_all();

 private:
  struct Memory {
    uint64_t joined, left;  // of all slots
    uint64_t unused[6];
    Slot slots[Board::slots];
  };
  // What was sent and may be in flight.
  struct Sent {
    std::vector<uint64_t> deltas, before;
    uint64_t probed = 0;
    std::vector<MPI_Request> requests;
    bool refused = false;
  };

  Sent* add(uint32_t slot, uint32_t target, uint64_t regions, uint64_t delta, bool fetches);
  bool arrives(Sent* sent, uint32_t target);
  void lose(uint32_t slot, uint32_t target);
  void forget_arrived();
  // Returns false on failure; the values are then undefined.
  template <class Value>
  bool read_each(const std::vector<uint32_t>& targets, MPI_Aint place, std::vector<Value>* values);
  static MPI_Aint at(uint32_t slot, size_t offset) {
    return static_cast<MPI_Aint>((offsetof(Memory, slots) + slot * sizeof(Slot) + offset) /
                                 sizeof(uint64_t));
  }

  std::vector<int> members_;
  HiddenWindow window_;
  Memory* memory_ = nullptr;
  uint32_t first_free_ = 0;
  bool in_use_[slots] = {};
  std::list<Sent> sent_;
  bool under_way_ = false;  // something was sent since the last wait for all
};

}  // namespace nearcache::mpi
