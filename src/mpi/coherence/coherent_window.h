// One window's part of coherent mode (docs/semantics.md, "Coherent mode"): this rank as a writer of
// others' memory, as the owner of its own, and, if the window's mode is coherent, as a reader that
// keeps what it read across acquires.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/allowance.h"
#include "cache/get/versions.h"
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
                 WriteTracker* tracker, Allowance* closing);
  CoherentWindow(const CoherentWindow&) = delete;
  CoherentWindow& operator=(const CoherentWindow&) = delete;

  Board& board() { return *board_; }
  uint32_t slot() const { return slot_; }
  OwnStores& own_stores() { return own_; }
  const OwnStores& own_stores() const { return own_; }

  // --- Before a call goes down. ---

  // A put or an accumulate of bytes [from, to) of a target: readers know of it when this returns.
  void writes(uint32_t target, int64_t from, int64_t to);
  // Others may learn by the call what this rank has done: the regions that it stored to have a new
  // version when this returns. And readers are told what is no longer written to, as a good time
  // for it.
  void publish();
  // Takes notice of new readers, if there are any.
  void attend();
  // Others may write to memory of the target by stores, which nobody tells of: nothing of it is
  // kept from now on.
  void never_again(uint32_t target);
  // Nor of any, and this rank keeps nothing.
  void never_again();
  // Before MPI_Win_complete, after which what this rank wrote unnoted in the epoch may be under
  // way.
  void start_ends();
  // A fence that all ranks have entered: what was written before it is there.
  void fenced();
  // The window will be freed by all its ranks.
  void end();

  // --- The reader. ---

  // What is fetched outlives acquires.
  bool keeps() const { return state_ == State::reads; }
  // A get that would be worth caching was looked up in vain; `line`: a hash of its place.
  void missed(uint64_t line);
  // A get of the target is about to be looked up.
  void prepare(uint32_t target);
  // The mode is another one: nothing is kept.
  void stop_reading();

  uint64_t hits_kept() const;
  uint64_t validations() const { return validations_; }
  uint64_t regions_changed() const { return regions_changed_; }
  uint64_t opens() const { return opens_; }
  uint64_t closes() const { return closes_; }

 private:
  enum class State : uint8_t { idle, joins, waits, reads };  // waits: for all to have taken notice

  // There are readers. Takes notice of new ones.
  bool look();
  void take_notice(uint64_t joined);
  void open(uint32_t target, uint64_t regions);
  // The regions of bytes [from, to) of a target; all, where it is not known yet where they begin.
  uint64_t regions_of(uint32_t target, int64_t from, int64_t to);
  void close_some(uint64_t now);
  bool outstanding(uint32_t target) const;

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
    uint64_t open = 0;      // regions that readers know that this rank writes
    uint64_t for_good = 0;  // of these
    uint64_t lead = 0;      // VersionWords::lead; 0: not known
    // in an epoch of start and complete, whose end says nothing of the target
    bool by_epoch = false;
    bool listed = false;
  };
  std::vector<Written> written_;   // by target
  std::vector<uint32_t> open_at_;  // targets with open regions
  bool wrote_by_epoch_ = false;    // since the beginning
  Allowance& closing_;

  State state_ = State::idle;
  std::vector<uint64_t> numbers_;      // what each rank is to take notice of
  std::vector<MPI_Request> requests_;  // of joining
  std::vector<uint32_t> waited_for_;   // ranks
  uint64_t ask_at_ = 0, pause_ = 0;    // ticks
  uint32_t noisy_ = 0;                 // gets since the last in a quiet phase
  uint32_t unasked_ = 0;               // releases since the last get that was looked up
  uint32_t noisy_releases_ = 0;        // since the last one in a quiet phase
  uint64_t told_since_ = 0;            // changes of mind of Phases when it began to keep
  struct Missed {
    uint32_t line = 0;
    uint32_t generation = 0;
  };
  std::array<Missed, 1024> missed_{};
  uint32_t repeats_ = 0, repeats_wanted_;
  std::vector<uint32_t> asked_;  // of a validation
  std::vector<VersionWords> words_;
  std::vector<uint64_t> answers_;
  uint64_t hits_kept_ = 0;  // of earlier times as a reader
  uint64_t validations_ = 0, regions_changed_ = 0, opens_ = 0, closes_ = 0;
};

}  // namespace nearcache::mpi
