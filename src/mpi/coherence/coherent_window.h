// SPDX-License-Identifier: BSD-3-Clause

// One window's part of coherent mode (docs/semantics.md, "Coherent mode"): this rank as a writer of
// others' memory, as the owner of its own, and, if the window's mode is coherent, as a reader that
// keeps what it read across acquires.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/get/repeats.h"
#include "cache/get/versions.h"
#include "mpi/coherence/allowances.h"
#include "mpi/coherence/board.h"
#include "mpi/coherence/own_stores.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Window;

class CoherentWindow {
 public:
  struct Memory {
    const void* base;
    uint64_t bytes;
  };
  CoherentWindow(Window* window, Board* board, uint32_t slot, Regions regions, Memory memory,
                 WriteTracker* tracker, Allowances* allowances);
  ~CoherentWindow();
  CoherentWindow(const CoherentWindow&) = delete;
  CoherentWindow& operator=(const CoherentWindow&) = delete;

  Board& board() { return *board_; }
  uint32_t slot() const { return slot_; }
  OwnStores& own_stores() { return own_; }
  const OwnStores& own_stores() const { return own_; }

  // --- Called before a call is passed to MPI. ---

  // Announces a put or an accumulate of bytes [from, to) of a target: readers know of it when this
  // returns.
  void writes(uint32_t target, int64_t from, int64_t to);
  // Called before a call by which others may learn what this rank has done. When this returns, the
  // regions that it stored to have a new version. Also tells readers which regions it no longer
  // writes to, since this is a good time for that.
  void publish();
  // Acknowledges new readers, if there are any.
  void attend();
  // Called before a collective call that may end a phase: readers keep nothing of targets that this
  // rank has locked exclusively.
  void meets();
  // Others may write to the target's memory by unannounced stores: nothing of it is kept from now
  // on.
  void never_again(uint32_t target);
  // The same for all targets; also, this rank keeps nothing.
  void never_again();
  // Called before MPI_Win_complete, after which this rank's unnoted writes of the epoch may still
  // be in flight; and when a pause ends in which this rank wrote.
  void start_ends();
  void wrote_unnoted();
  // All ranks have entered a fence: everything written before it has arrived.
  void fenced();
  // Called by all ranks when the window is about to be freed.
  void end();

  // --- The reader. ---

  // Fetched data outlives acquires.
  bool keeps() const { return state_ == State::reads; }
  // A get that would be worth caching missed.
  void missed();
  // A get of the target is about to be looked up.
  void prepare(uint32_t target);
  // The window pauses: nothing is looked up for thousands of gets.
  void pauses();
  // The mode has changed: nothing is kept any more.
  void stop_reading();

  uint64_t hits_kept() const;
  uint64_t validations() const { return validations_; }
  uint64_t regions_changed() const { return regions_changed_; }
  uint64_t opens() const { return opens_; }
  uint64_t closes() const { return closes_; }

 private:
  enum class State : uint8_t { idle, joins, waits, reads };  // waits: for all ranks to acknowledge

  // Returns whether there are readers, and acknowledges new ones.
  bool look();
  void take_notice(uint64_t joined);
  void tell_of_locks();
  void open(uint32_t target, uint64_t regions);
  // The regions of bytes [from, to) of a target; all regions while it is not known where its memory
  // begins.
  uint64_t regions_of(uint32_t target, int64_t from, int64_t to);
  void close_some(uint64_t now);
  bool outstanding(uint32_t target) const;
  bool unfinished(uint32_t target) const;

  void join();
  void step();
  void leave();
  void give_up();
  void released();
  void validate(uint32_t target);

  Window& window_;
  Board* const board_;
  const uint32_t slot_;
  const Regions regions_;
  uint64_t acked_ = 0;
  OwnStores own_;

  struct Written {
    uint64_t open = 0;      // regions in which readers expect writes by this rank
    uint64_t for_good = 0;  // those of them that stay so
    uint64_t lead = 0;      // VersionWords::lead; 0: not known yet
    // written in a start/complete epoch, whose end does not mean arrival at the target
    bool by_epoch = false;
    bool listed = false;
  };
  std::vector<Written> written_;   // by target
  std::vector<uint32_t> open_at_;  // targets with open regions
  bool wrote_by_epoch_ = false;    // since the last fence
  Allowance& closing_;

  State state_ = State::idle;
  std::vector<uint64_t> numbers_;      // each rank must acknowledge more than this
  std::vector<MPI_Request> requests_;  // of joining
  std::vector<uint32_t> waited_for_;   // ranks that have not acknowledged yet
  uint64_t ask_at_ = 0, pause_ = 0;    // ticks
  uint32_t noisy_ = 0;                 // consecutive gets outside of quiet phases
  uint32_t unasked_ = 0;               // consecutive releases without a get that was looked up
  uint32_t noisy_releases_ = 0;        // consecutive releases outside of quiet phases
  uint64_t told_since_ = 0;            // changes of mind of Phases when this rank began to keep
  Repeats repeats_;                    // while idle
  uint32_t repeats_wanted_;
  std::vector<uint32_t> asked_;  // targets of a validation
  std::vector<VersionWords> words_;
  std::vector<uint64_t> answers_;
  uint64_t hits_kept_ = 0;  // in earlier periods as a reader
  uint64_t validations_ = 0, regions_changed_ = 0, opens_ = 0, closes_ = 0;
};

}  // namespace nearcache::mpi
