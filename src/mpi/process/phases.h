// Quiet phases: while nobody writes, mode transparent may keep what it read although gets complete
// (docs/semantics.md, "Quiet phases").
//
// A rank that completes a get learns nothing from that. But it may learn of another rank's put
// without any call: by a load of its own memory, where the other put a flag; and a lock orders it
// after another rank's epoch. So a rank that would gain announces once to all others that it reads.
// From then on a rank notifies the readers before it first writes in a phase, or locks exclusively.
// A reader that has heard of no writer in this phase is in a quiet one. Phases are counted by
// collective calls that no rank of the job leaves before all have entered.
//
// The words lie in a hidden window of each group of ranks that has windows: one holds the last
// phase in which somebody wrote, and there is one bit per rank that says whether it reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cache/get/acquires.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Phases {
 public:
  explicit Phases(Acquires* acquires) : acquires_(acquires) {}

  // Nothing older than so many ns is served in mode transparent; so many repeats make this rank a
  // reader.
  void configure(uint64_t longest_age_ns, uint32_t repeats);
  // Whether this rank could cover a window of these ranks. It is one of several groups, and others
  // are not in all of them: they may have room.
  bool has_room(const std::vector<int>& members, bool* covered);
  // A window of these ranks was made, all of them have room, and one at least had not covered it:
  // what threads do elsewhere is in another order. Collective over `comm`.
  void cover(MPI_Comm comm, const std::vector<int>& members);
  // A window was made whose writers will not tell: there are no quiet phases any more.
  void never_again();
  // Gives back what it holds of MPI: before the end of MPI, which all ranks reach. Collective.
  void stop();

  // Nobody has written in this phase, as far as one can know here. The load of a word.
  [[gnu::always_inline]] bool quiet() const {
    return acquires_->quiet.load(std::memory_order_relaxed) && !heard();
  }
  // Before anything is decided by Acquires::quiet alone.
  void look() {
    if (acquires_->quiet.load(std::memory_order_relaxed) && heard()) [[unlikely]]
      end_quiet();
  }

  // There are ranks that may have to be told of a write.
  [[gnu::always_inline]] bool somebody_reads() const {
    const uint32_t count = companions_.load(std::memory_order_acquire);
    uint64_t readers = wide_.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i)
      readers |= __atomic_load_n(&words_[i][1], __ATOMIC_RELAXED);
    return readers != 0;
  }
  // The same by one word: true also where others would have to be looked at.
  [[gnu::always_inline]] bool somebody_may_read() const {
    return __atomic_load_n(word_of_readers_.load(std::memory_order_acquire), __ATOMIC_RELAXED) != 0;
  }
  // That word, until windows are made.
  const uint64_t* word_of_readers() const {
    return word_of_readers_.load(std::memory_order_acquire);
  }
  // This rank is about to write to a window, or to let others see what it stored under an exclusive
  // lock: readers are told, and know it, when this returns.
  void writing() {
    if (somebody_reads() && untold_readers()) [[unlikely]]
      tell_readers();
  }

  // The same, as it locks exclusively: it learns by that what others did before, in shared epochs
  // that tell nobody.
  void locking() {
    writing();
    locked();
  }
  // It has, and nobody had to be told.
  void locked() { locked_in_ = phase_ + 1; }
  // Not in this phase, nor was there another thread.
  bool locked_exclusively() const { return locked_in_ > phase_; }

  // A collective call of all ranks of the job has ended, which none leaves before all have entered.
  void everybody_met();
  // Such a call has failed here: others may have counted a phase that this rank has not.
  void miscounted();
  // A get that would be worth caching was looked up in vain: are there repeats between two
  // acquires? `line`: a hash of the place.
  void missed(uint64_t line) {
    if (reading_.load(std::memory_order_relaxed) ||
        companions_.load(std::memory_order_relaxed) == 0)
      return;
    interest_.store(1024, std::memory_order_relaxed);
    look_for_repeats(line);
  }
  // Whether there may be repeats at all: requests of gets are told from others for a while.
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
  // Others know that this rank reads, and have since the last change of that, of which there were
  // so many.
  bool is_told() const { return reading_.load(std::memory_order_relaxed) && !on_the_way(); }
  uint64_t changes_of_mind() const { return changes_of_mind_; }
  bool reading() const { return reading_.load(std::memory_order_relaxed); }
  // While it is on the way to others that this rank reads.
  bool on_the_way() const { return on_the_way_.load(std::memory_order_relaxed); }
  void step();

  // What is older than the longest age goes. `now` in ticks.
  void age(uint64_t now) {
    if (now >= expires_) [[unlikely]]
      expire(now);
  }

 private:
  static constexpr uint32_t most_groups = 16;
  static constexpr uint32_t most_ranks = 4096;  // of a group: each writer tells each reader

  static constexpr uint64_t never = UINT64_MAX;  // of phases

  // The hidden window of a group, and what was sent through it.
  struct Companion {
    MPI_Win window = MPI_WIN_NULL;
    uint64_t order = 0;        // in which all free them
    std::vector<int> members;  // ranks of the world
    uint32_t rank = 0;
    // the phase after the last one in which somebody wrote; readers, a bit each
    uint64_t* words = nullptr;
    size_t reader_words = 0;
    uint64_t told_in = never;    // the phase that `told` is about
    std::vector<uint64_t> told;  // readers that know that this rank writes
    // others know, or will when the requests are complete, that this rank reads
    bool reading = false;
    std::vector<MPI_Request> requests;  // on the way
    std::vector<uint64_t> results;      // of these; not looked at

    uint64_t writers() const { return __atomic_load_n(&words[0], __ATOMIC_ACQUIRE); }
    uint64_t readers(size_t word) const {
      return __atomic_load_n(&words[1 + word], __ATOMIC_RELAXED);
    }
    bool untold_readers(uint64_t phase) const;
  };

  bool is_covered(const std::vector<int>& members) const;
  bool heard() const {
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
  void announce(Companion* group, bool reading);
  void update_quiet();
  void end_quiet();
  void judge(bool noisy);
  void expire(uint64_t now);
  uint64_t hits() const;

  Acquires* const acquires_;
  uint64_t phase_ = 0;
  bool miscounted_ = false;
  uint64_t locked_in_ = 0;  // the phase after the one in which this rank locked exclusively last
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
  std::array<const uint64_t*, most_groups> words_{};  // of each companion, at hand
  std::array<Companion, most_groups> groups_;
  std::atomic<uint64_t> wide_{0};  // not 0: there are groups whose readers need more than a word
  std::atomic<bool> uncovered_{false};
  std::atomic<bool> on_the_way_{false};
  std::atomic<bool> reading_{false};  // this rank has asked to be told
  uint64_t expires_ = 0, age_ticks_ = UINT64_MAX / 2;

  // Places that were missed since the last acquire: half of the table for all of them, half for one
  // in 16, which finds repeats that are further apart.
  struct Missed {
    uint32_t line = 0, learned = 0;
  };
  uint32_t was_missed(Missed* slot, uint64_t line) const;
  std::array<Missed, 1024> missed_{};
  std::atomic<int> interest_{0};
  uint32_t repeats_ = 0, repeats_wanted_ = 64;
  uint64_t changes_of_mind_ = 0;
  uint32_t asking_ = 0;  // calls of `ask`
  bool asked_ = false;   // this rank reads for these alone
  // phases, one after another, that brought next to nothing as somebody wrote
  uint32_t barren_ = 0;
  uint64_t hits_before_ = 0;  // this phase
  uint32_t made_ = 0;         // groups whose first rank is this one
  std::mutex mutex_;          // covers all but what is atomic, in programs with threads
};

}  // namespace nearcache::mpi
