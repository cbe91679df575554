// SPDX-License-Identifier: BSD-3-Clause

// A window's epochs, as this rank's calls opened and closed them, and which operations are
// outstanding at which target.
//
// Every operation gets a number. A synchronisation completes the operations numbered before it
// began. They count as completed only once it has returned successfully; while it is in progress,
// and after it has failed, they are still outstanding. So a concurrent thread never sees them as
// completed too early, and a flush that is retried is passed down again.
//
// A write is noted before it is issued, because the data may change from then on, and again
// afterwards: a synchronisation that began in between may or may not have completed it.
//
// Takes no locks: the caller has one per window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/get/targets.h"

namespace nearcache {

class Epochs {
 public:
  explicit Epochs(uint32_t ranks) : targets_(ranks), ranks_(ranks) {}

  uint32_t ranks() const { return ranks_; }

  // --- Access epochs. A fence may open one; a later lock or start shows that it did not. ---

  // `alone`: the program asserts that no conflicting lock is held or will be requested
  // (MPI_MODE_NOCHECK).
  void lock_all(bool alone = false) { of_all_ = true, fence_ = false, alone_ = alone, ++passive_; }
  void unlock_all() { of_all_ = false, ++passive_; }
  // `opens`: the fence may open an epoch. `met`: all ranks have entered the fence.
  void fence(bool opens, bool met = false) { fence_ = opens, fence_met_ = met; }
  // `remembered`: what is served before it is certainly held will be fetched again where another
  // rank's epoch came between.
  [[gnu::always_inline]] void lock(uint32_t target, bool is_exclusive, bool is_remembered = false) {
    fence_ = false;
    Target& its = targets_[target];
    its.held_in = 0;
    const unsigned others = its.flags & ~unsigned{of_a_lock};
    const unsigned how = is_exclusive ? exclusive | exclusively : 0;
    its.flags = static_cast<uint8_t>(others | locked | how | (is_remembered ? remembered : 0));
  }
  void unlock(uint32_t target) { set(target, of_a_lock, false); }
  void start(std::span<const int> targets);
  void complete();

  // Returns true if everything that other ranks did before this epoch (in earlier epochs, or before
  // a fence or post) is known to be done. It is not enough that the calls that open the epoch have
  // returned, which they may do before anything has happened at the target: an operation must have
  // been completed under the lock, or all ranks must have entered the fence.
  bool certainly_open(uint32_t target) const {
    const Target& its = targets_[target];
    if ((its.flags & in_start) != 0) return false;
    if (of_all_) return alone_ || its.held_in == passive_;
    return (its.flags & locked) != 0 ? its.held_in == passive_ : fence_ && fence_met_;
  }
  // The call that opened the epoch may have returned before what it comes after was done at the
  // target, and nobody would find that out: a start, a lock under which nothing has been completed,
  // a fence that ends no epoch.
  bool may_begin_later(uint32_t target) const {
    const uint8_t flags = targets_[target].flags;
    if ((flags & in_start) != 0) return true;
    if (of_all_ || (flags & locked) != 0)
      return (flags & remembered) == 0 && !certainly_open(target);
    return fence_ && !fence_met_;
  }
  // Returns true in a fence epoch. It ends with the next fence, which is therefore a barrier.
  bool in_fence() const { return fence_; }

  // Returns true if the target is locked exclusively.
  bool locked_exclusively(uint32_t target) const {
    return (targets_[target].flags & exclusively) != 0;
  }
  // Returns true if the target is in the group of MPI_Win_start.
  bool started(uint32_t target) const { return (targets_[target].flags & in_start) != 0; }
  bool some_started() const { return !started_.empty(); }
  bool open_for_all() const { return of_all_; }
  [[gnu::always_inline]] bool open(uint32_t target) const {
    return of_all_ || fence_ || (targets_[target].flags & (locked | in_start)) != 0;
  }

  // --- Outstanding operations. ---

  void get_issued(uint32_t target) { note(target, gets, &Target::last_get); }

  // `mark`: the caller's number of the last write before this one. The lowest mark of the writes
  // outstanding at a target is kept.
  void write_begins(uint32_t target, uint32_t mark) {
    Target& at = targets_[target];
    if ((at.flags & writes) == 0) at.mark = mark;
    note(target, writes, &Target::last_write);
    ++at.being_issued;
    ++being_issued_;
  }
  void write_issued(uint32_t target) {
    --targets_[target].being_issued;
    --being_issued_;
    note(target, writes, &Target::last_write);
  }
  static constexpr uint32_t no_mark = UINT32_MAX;  // some outstanding writes have no known number
  uint32_t mark(uint32_t target) const {
    return writes_unknown(target) ? no_mark : targets_[target].mark;
  }
  // Invalidates the numbers that the caller has given to writes.
  void forget_marks();
  // Returns the largest number, at most `now` (the last one given), up to which every numbered
  // write is known to be complete.
  uint32_t complete_up_to(uint32_t now) const;
  // Returns true if writes without a number are outstanding: at this target, or at any.
  bool writes_without_number(uint32_t target) const {
    return writes_outstanding(target) && mark(target) == no_mark;
  }
  bool some_without_number() const;
  // Returns true if writes are outstanding at any target.
  bool some_writes_outstanding() const;
  // Returns how often writes without a number were completed.
  uint32_t completed_without_number() const { return completed_without_number_; }
  // Returns how often begin() and end() have completed writes, with or without a number.
  uint32_t writes_completed() const { return writes_completed_; }
  // Returns true if noted gets are outstanding; gets that were not noted may be outstanding as
  // well.
  bool gets_noted(uint32_t target) const { return (targets_[target].flags & gets) != 0; }
  bool writes_outstanding(uint32_t target) const {
    return (targets_[target].flags & writes) != 0 || writes_unknown(target);
  }
  bool outstanding(uint32_t target) const {
    return (targets_[target].flags & (gets | writes)) != 0 || unknown(target);
  }
  // Notes that gets (`or_writes`: and writes) may be outstanding at every target because calls went
  // unnoted. O(1).
  void all_outstanding(bool or_writes);

  // --- Synchronisation. ---

  struct Sync {
    Targets targets;
    uint64_t up_to;  // the last number given when it began
    bool local;      // writes complete at the origin only
    // every write up to this number had been issued; no_mark: not known
    uint32_t mark;
    uint32_t era;  // of the caller's numbers, see forget_marks()
  };
  Sync begin(Targets targets, bool local, uint32_t mark);
  void end(const Sync& sync, bool succeeded);
  // Like begin() and end() together, if `target` is the only one with outstanding operations and no
  // other thread is issuing or synchronising. Otherwise returns false and does nothing.
  bool end_alone(uint32_t target) {
    if (touched_.size() != 1 || touched_[0] != target || (under_way_ | being_issued_) != 0)
      return false;
    Target& its = targets_[target];
    completed_without_number_ += writes_without_number(target) ? 1 : 0;
    its.held_in = passive_;
    its.known_since = unnoted_;
    its.flags = static_cast<uint8_t>(its.flags & ~(gets | writes | exclusive | listed));
    touched_.clear();
    update_quiet();
    return true;
  }
  bool under_way() const { return under_way_ != 0; }

  // Returns true if nothing is outstanding at any target and no synchronisation is in progress.
  bool quiet() const { return quiet_; }

  // Returns true if a flush would complete nothing and is not an error, because a passive epoch is
  // known to be open. Returns false for the first flush of an exclusive epoch, which must be passed
  // down: a library may acquire the lock only at the first call that needs it, and the program may
  // rely on the lock to exclude others.
  bool flush_is_empty(Targets targets) const;

 private:
  static constexpr uint8_t locked = 1;  // locked by MPI_Win_lock, not lock_all
  // locked exclusively, and no call that needs the lock has been passed down since
  static constexpr uint8_t exclusive = 2;
  static constexpr uint8_t in_start = 4;      // in the group of MPI_Win_start
  static constexpr uint8_t gets = 8;          // gets are outstanding
  static constexpr uint8_t writes = 16;       // puts or accumulates are
  static constexpr uint8_t listed = 32;       // in touched_
  static constexpr uint8_t exclusively = 64;  // MPI_Win_lock, exclusively
  static constexpr uint8_t remembered = 128;  // what is served under it
  static constexpr uint8_t of_a_lock = locked | exclusive | exclusively | remembered;

  struct Target {
    uint64_t last_get = 0, last_write = 0;  // numbers of the last get and write
    uint32_t being_issued = 0;              // writes begun but not yet issued
    uint32_t mark = no_mark;
    uint32_t known_since = 0;  // value of `unnoted_` when last synchronised
    uint64_t held_in = 0;      // passive epoch in which an operation was last completed
    uint8_t flags = 0;
  };

  void note(uint32_t target, uint8_t what, uint64_t Target::*last) {
    Target& at = targets_[target];
    at.*last = ++numbers_;
    if ((at.flags & listed) == 0) list(target);
    at.flags = static_cast<uint8_t>(at.flags | what | listed);
  }
  void list(uint32_t target) {
    quiet_ = false;
    touched_.push_back(target);
  }
  void set(uint32_t target, uint8_t flags, bool on) {
    uint8_t& its = targets_[target].flags;
    its = static_cast<uint8_t>(on ? its | flags : its & ~flags);
  }
  void settle(uint32_t number, const Sync& sync);
  void update_quiet() {
    quiet_ = touched_.empty() && under_way_ == 0 && all_known_since_ == unnoted_;
  }
  // Returns true if calls went unnoted and the target has not been synchronised since.
  bool unknown(uint32_t target) const {
    return targets_[target].known_since != unnoted_ && all_known_since_ != unnoted_;
  }
  bool writes_unknown(uint32_t target) const { return unnoted_writes_ && unknown(target); }
  // Returns true if `sync` completes all unnoted calls.
  bool makes_known(const Sync& sync) const { return !sync.local && sync.up_to >= unnoted_up_to_; }

  // Fields that a hit and its flush read come first.
  bool of_all_ = false;  // lock_all
  bool fence_ = false;
  bool fence_met_ = false;
  bool alone_ = false;  // lock_all with MPI_MODE_NOCHECK
  bool quiet_ = true;
  std::vector<Target> targets_;
  uint32_t ranks_;
  uint32_t under_way_ = 0;
  uint32_t being_issued_ = 0;  // writes, at all targets
  uint64_t numbers_ = 0;
  uint64_t passive_ = 1;  // number of lock_all and unlock_all calls, plus 1
  uint32_t era_ = 0;
  uint32_t completed_without_number_ = 0;
  uint32_t writes_completed_ = 0;
  uint32_t unnoted_ = 0;          // how often calls went unnoted
  uint32_t all_known_since_ = 0;  // value of unnoted_ when all targets were last synchronised
  uint64_t unnoted_up_to_ = 0;    // operation number when calls last went unnoted
  bool unnoted_writes_ = false;   // unnoted calls since all_known_since_ include writes
  std::vector<uint32_t> touched_;
  std::vector<uint32_t> started_;
};

}  // namespace nearcache
