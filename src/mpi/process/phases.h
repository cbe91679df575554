// SPDX-License-Identifier: BSD-3-Clause

// Quiet phases: while no rank writes, mode transparent may keep what it read even though gets
// complete (docs/semantics.md, "Quiet phases").
//
// Completing a get tells a rank nothing about others. But a rank may learn of another rank's put
// without any call, by loading a flag from its own memory that the other rank has put there; and a
// lock orders it after another rank's epoch. So a rank that would gain from quiet phases announces
// once to all others that it is a reader. From then on, a rank notifies the readers before its
// first write of each phase, and before it locks exclusively. A phase is quiet for a reader that
// has heard of no writer in it. Phases are counted by collective calls that no rank of the job
// leaves before all have entered.
//
// The state lies in a hidden window of each group of ranks that has windows: one word for the last
// phase in which some rank wrote, and one bit per rank that says whether it is a reader.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/racy.h"
#include "cache/get/acquires.h"
#include "mpi/mpi_api.h"
#include "mpi/process/hidden_window.h"

namespace nearcache::mpi {

class Phases {
 public:
  explicit Phases(Acquires* acquires) : acquires_(acquires) {}

  // Mode transparent serves nothing older than `longest_age_ns` nanoseconds; after `repeats`
  // repeated gets this rank becomes a reader.
  void configure(uint64_t longest_age_ns, uint32_t repeats);
  // Returns whether this rank could cover a window of these ranks. Other members belong to other
  // sets of groups and may have room when this rank has none. `*covered`: the group is covered
  // already.
  bool has_room(const std::vector<int>& members, bool* covered);
  // Called when a window of these ranks was created, all of them have room, and at least one had
  // not covered the group yet: threads elsewhere create windows in a different order. Collective
  // over `comm`.
  void cover(MPI_Comm comm, const std::vector<int>& members);
  // A window was created whose writers will not notify readers: there are no quiet phases any more.
  void never_again();
  // Releases all MPI objects. Called before the end of MPI, which all ranks reach. Collective.
  void stop();

  // No rank has written in this phase, as far as this rank can know. Costs the load of a word.
  [[gnu::always_inline]] bool quiet() const {
    return acquires_->quiet.load(std::memory_order_relaxed) && !heard();
  }
  // Must be called before anything is decided by Acquires::quiet alone.
  void look() {
    if (acquires_->quiet.load(std::memory_order_relaxed) && heard()) [[unlikely]]
      end_quiet();
  }

  // Whether there may be readers to notify of a write.
  [[gnu::always_inline]] bool somebody_reads() const {
    const uint32_t count = companions_.load(std::memory_order_acquire);
    uint64_t readers = wide_.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i)
      readers |= __atomic_load_n(&words_[i][1], __ATOMIC_RELAXED);
    return readers != 0;
  }
  // Like somebody_reads(), from a single word; also true if other words would have to be read.
  [[gnu::always_inline]] bool somebody_may_read() const {
    return __atomic_load_n(word_of_readers_.load(std::memory_order_acquire), __ATOMIC_RELAXED) != 0;
  }
  // Returns that word's address, which is valid until a window is created.
  const uint64_t* word_of_readers() const {
    return word_of_readers_.load(std::memory_order_acquire);
  }
  // This rank is about to write to a window, or to expose what it stored under an exclusive lock.
  // When this returns, all readers have been notified and know of it.
  void writing() {
    if (somebody_reads() && untold_readers()) [[unlikely]]
      tell_readers();
  }

  // Like writing(), for an exclusive lock. Taking it also tells this rank what others did before in
  // shared epochs, of which nobody is notified.
  void locking() {
    writing();
    locked();
  }
  // This rank has locked exclusively, and nobody had to be notified.
  [[gnu::always_inline]] void locked() { locked_in_ = phase_ + 1; }
  // Returns whether it has done so in this phase; with several threads there is only one phase.
  bool locked_exclusively() const { return locked_in_ > phase_; }

  // A collective call of all ranks of the job has ended, which no rank leaves before all have
  // entered.
  void everybody_met();
  // Such a call has failed here: other ranks may have counted a phase that this one has not.
  void miscounted();
  // A get that would be worth caching missed: checks whether gets repeat between two acquires.
  // `line`: a hash of its location.
  void missed(uint64_t line) {
    if (reading_.load(std::memory_order_relaxed) ||
        companions_.load(std::memory_order_relaxed) == 0)
      return;
    interest_.store(1024, std::memory_order_relaxed);
    look_for_repeats(line);
  }
  // Whether repeats are likely at all: for a while, requests of gets are told apart from others.
  bool interested() {
    const int left = interest_.load(std::memory_order_relaxed);
    if (reading_.load(std::memory_order_relaxed)) return true;
    if (left > 0) interest_.store(left - 1, std::memory_order_relaxed);
    return left > 0;
  }
  // There may be quiet phases, if this rank asks for them.
  bool may_be_quiet() const;
  // This rank gains by knowing that nobody writes, whatever repeats there were; no longer, of one
  // that has asked.
  void ask();
  void ask_no_longer();
  // is_told(): others know that this rank is a reader, and have known since its status last
  // changed. changes_of_mind() counts those changes.
  bool is_told() const { return reading_.load(std::memory_order_relaxed) && !on_the_way(); }
  uint64_t changes_of_mind() const { return changes_of_mind_; }
  bool reading() const { return reading_.load(std::memory_order_relaxed); }
  // Quiet phases begin to serve, or no longer serve, a window with so many hits.
  void serve(uint64_t hits) { hits_before_ += hits; }
  void serve_no_longer(uint64_t hits) { hits_before_ -= hits; }
  // The announcement that this rank is a reader is still in flight.
  bool on_the_way() const { return on_the_way_.load(std::memory_order_relaxed); }
  void step();

  // Drops data older than the longest age. `now` in ticks.
  void age(uint64_t now) {
    if (now >= expires_) [[unlikely]]
      expire(now);
  }

 private:
  static constexpr uint32_t most_groups = 16;
  static constexpr uint32_t most_ranks = 4096;  // per group: each writer notifies each reader

  static constexpr uint64_t never = UINT64_MAX;           // a phase number
  static constexpr uint64_t last_phase = UINT32_MAX - 1;  // that can be told

  // The hidden window of a group, and what was sent through it.
  struct Companion {
    HiddenWindow window;
    uint64_t order = 0;        // the order in which all ranks free these windows
    std::vector<int> members;  // ranks in the world
    uint32_t rank = 0;
    // Word 0: the last phase in which some rank wrote, plus 1, in its lower half; the upper half is
    // nonzero if a rank writes in phases that never end. Then one bit per reader.
    uint64_t* words = nullptr;
    size_t reader_words = 0;
    uint64_t told_in = never;    // the phase that `told` belongs to
    std::vector<uint64_t> told;  // readers that know that this rank writes
    // others know that this rank is a reader, or will once the requests complete
    bool reading = false;
    std::vector<MPI_Request> requests;  // in flight
    std::vector<uint64_t> results;      // of the requests; never read

    uint64_t writers() const { return __atomic_load_n(&words[0], __ATOMIC_ACQUIRE); }
    uint64_t readers(size_t word) const {
      return __atomic_load_n(&words[1 + word], __ATOMIC_RELAXED);
    }
    bool untold_readers(uint64_t phase) const;
  };

  bool is_covered(const std::vector<int>& members) const;
  [[gnu::always_inline]] bool heard() const {
    const uint32_t count = companions_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      if (words_[i] != nullptr && __atomic_load_n(words_[i], __ATOMIC_ACQUIRE) > phase_)
        return true;
    }
    return false;
  }
  bool untold_readers() const;
  void tell_readers();
  void tell_readers(Companion* group);
  void look_for_repeats(uint64_t line);
  void announce(bool reading);
  void announce(Companion* group);
  void update_quiet();
  void end_quiet();
  void judge(bool noisy);
  void expire(uint64_t now);
  uint64_t hits() const;

  Acquires* const acquires_;
  uint64_t phase_ = 0;
  bool miscounted_ = false;
  Racy<uint64_t> locked_in_ = 0;  // the last phase in which this rank locked exclusively, plus 1
  static constexpr uint64_t nobody = 0, somebody = 1;
  void choose_word_of_readers() {
    const uint32_t count = companions_.load(std::memory_order_relaxed);
    word_of_readers_.store(count > 1 || wide_ != 0 ? &somebody
                           : count == 1            ? &words_[0][1]
                                                   : &nobody,
                           std::memory_order_release);
  }
  std::atomic<const uint64_t*> word_of_readers_{&nobody};
  std::atomic<uint32_t> companions_{0};
  std::array<const uint64_t*, most_groups> words_{};  // of each companion, for fast access
  std::array<Companion, most_groups> groups_;
  std::vector<Companion> unused_;  // there was no room; to be freed with the others
  std::atomic<uint64_t> wide_{0};  // nonzero: some group's reader bits need more than one word
  std::atomic<bool> uncovered_{false};
  std::atomic<bool> on_the_way_{false};
  std::atomic<bool> reading_{false};  // this rank has announced itself as a reader
  Racy<uint64_t> expires_ = 0;
  uint64_t age_ticks_ = UINT64_MAX / 2;

  // Locations missed since the last acquire. Half of the table is for all of them, the other half
  // for one in 16, which finds repeats that are further apart.
  struct Missed {
    uint32_t line = 0, learned = 0;
  };
  uint32_t was_missed(Missed* slot, uint64_t line) const;
  std::array<Missed, 1024> missed_{};
  std::atomic<int> interest_{0};
  uint32_t repeats_ = 0, repeats_wanted_ = 64;
  Racy<uint64_t> changes_of_mind_ = 0;
  uint32_t asking_ = 0;  // calls of `ask` in effect
  bool asked_ = false;   // this rank is a reader only because of these
  // consecutive phases with next to no hits in which some rank wrote
  uint32_t barren_ = 0;
  // before this phase, of the windows that are still there: wraps around where one goes that had
  // hits in this phase
  std::atomic<uint64_t> hits_before_{0};
  uint32_t made_ = 0;  // groups whose first rank is this one
  std::mutex mutex_;   // guards all but the atomics, in programs with threads
};

}  // namespace nearcache::mpi
