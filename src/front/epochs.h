// A window's epochs, as this rank's calls opened and closed them, and which operations are
// outstanding at which target.
//
// Every operation gets a number. A synchronisation completes the operations that have one when it
// begins, and they count as completed once it has returned successfully: while it is in progress,
// and after it has failed, they are still outstanding. So a concurrent thread never sees them as
// completed too early, and a flush that is retried is passed down again.
//
// A write is noted before it is issued, because the data may change from then on, and again
// afterwards: a synchronisation that began in between may or may not have completed it. No locks:
// the caller has one per window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/targets.h"

namespace nearcache {

class Epochs {
 public:
  explicit Epochs(uint32_t ranks) : targets_(ranks), ranks_(ranks) {}

  uint32_t ranks() const { return ranks_; }

  // --- Access epochs. A fence may open one; a lock or a start after it says that it did not. ---

  // `alone`: the program says that nobody holds a lock that conflicts, or will ask for one.
  void lock_all(bool alone = false) { of_all_ = true, fence_ = false, alone_ = alone, ++passive_; }
  void unlock_all() { of_all_ = false, ++passive_; }
  // `met`: all ranks have entered it.
  void fence(bool opens, bool met = false) { fence_ = opens, fence_met_ = met; }
  // `remembered`: what is served before it is certainly held will be fetched again where another
  // rank's epoch came between.
  void lock(uint32_t target, bool is_exclusive, bool is_remembered = false) {
    fence_ = false;
    targets_[target].held_in = 0;
    set(target, locked, true);
    set(target, exclusive | exclusively, is_exclusive);
    set(target, remembered, is_remembered);
  }
  void unlock(uint32_t target) {
    set(target, locked | exclusive | exclusively | remembered, false);
  }
  void start(const std::vector<uint32_t>& targets);
  void complete();

  // Whatever other ranks did in epochs, or before a fence or a post, that this one comes after is
  // done: not only have the calls returned that open the epoch, which they may before anything has
  // happened at the target. An operation has been completed under the lock, or all have entered the
  // fence.
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
  // The present fence epoch ends with the fence that follows: it is a barrier, then.
  bool in_fence() const { return fence_; }

  // Since the lock was taken: does it keep others out?
  bool locked_exclusively(uint32_t target) const {
    return (targets_[target].flags & exclusively) != 0;
  }
  // In the group of MPI_Win_start.
  bool started(uint32_t target) const { return (targets_[target].flags & in_start) != 0; }
  bool open_for_all() const { return of_all_; }
  bool open(uint32_t target) const {
    return of_all_ || fence_ || (targets_[target].flags & (locked | in_start)) != 0;
  }

  // --- What is outstanding. ---

  void get_issued(uint32_t target) { note(target, gets, &Target::last_get); }

  // `mark`: the caller's number of all its writes before this one. Of the writes that are
  // outstanding at a target the lowest is kept.
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
  static constexpr uint32_t no_mark = UINT32_MAX;  // some are outstanding whose number is not known
  uint32_t mark(uint32_t target) const {
    return writes_unknown(target) ? no_mark : targets_[target].mark;
  }
  // The caller's numbers mean nothing any more.
  void forget_marks();
  // Every write that the caller numbered up to this is complete, of `now` that it has given.
  uint32_t complete_up_to(uint32_t now) const;
  // Writes that have no number are outstanding at this target, or at any.
  bool writes_without_number(uint32_t target) const {
    return writes_outstanding(target) && mark(target) == no_mark;
  }
  bool some_without_number() const;
  // Writes are outstanding at any target.
  bool some_writes_outstanding() const;
  // How often such writes were completed.
  uint32_t completed_without_number() const { return completed_without_number_; }
  // Gets that were noted; others may be outstanding besides.
  bool gets_noted(uint32_t target) const { return (targets_[target].flags & gets) != 0; }
  bool writes_outstanding(uint32_t target) const {
    return (targets_[target].flags & writes) != 0 || writes_unknown(target);
  }
  bool outstanding(uint32_t target) const {
    return (targets_[target].flags & (gets | writes)) != 0 || unknown(target);
  }
  // Gets may be, everywhere, as calls were not noted; `or_writes`: writes too. O(1).
  void all_outstanding(bool or_writes);

  // --- Synchronisation. ---

  struct Sync {
    Targets targets;
    uint64_t up_to;  // the last number that had been given when it began
    bool local;      // writes complete at the origin only
    // every write that the caller numbered up to this had been issued; no_mark: that is not known
    uint32_t mark;
    uint32_t era;  // of the caller's numbers
  };
  Sync begin(Targets targets, bool local, uint32_t mark);
  void end(const Sync& sync, bool succeeded);
  // The same two, of a target that alone has anything outstanding, where no other thread issues or
  // synchronises. False, and nothing done, if it is not that simple.
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

  // Nothing is outstanding and no synchronisation is under way, at any target.
  bool quiet() const { return quiet_; }

  // A flush would complete nothing, and is no error: a passive epoch is known to be open. The first
  // flush of an exclusive epoch goes down: a library may take the lock at the first call that needs
  // it, and the program may use it to keep others out.
  bool flush_is_empty(Targets targets) const;

 private:
  static constexpr uint8_t locked = 1;  // MPI_Win_lock of this target alone
  // exclusively, and nothing has gone down since that needs the lock
  static constexpr uint8_t exclusive = 2;
  static constexpr uint8_t in_start = 4;      // in the group of MPI_Win_start
  static constexpr uint8_t gets = 8;          // gets are outstanding
  static constexpr uint8_t writes = 16;       // puts or accumulates are
  static constexpr uint8_t listed = 32;       // in touched_
  static constexpr uint8_t exclusively = 64;  // MPI_Win_lock, exclusively
  static constexpr uint8_t remembered = 128;  // what is served under it

  struct Target {
    uint64_t last_get = 0, last_write = 0;  // numbers of the last ones
    uint32_t being_issued = 0;              // writes that have begun and have not been issued
    uint32_t mark = no_mark;
    uint32_t known_since = 0;  // the last `unnoted_` after which it was synchronised
    uint64_t held_in = 0;      // passive epoch in which an operation was completed
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
  // Calls went unnoted, and the target was not synchronised since.
  bool unknown(uint32_t target) const {
    return targets_[target].known_since != unnoted_ && all_known_since_ != unnoted_;
  }
  bool writes_unknown(uint32_t target) const { return unnoted_writes_ && unknown(target); }
  // It has been, by this.
  bool makes_known(const Sync& sync) const { return !sync.local && sync.up_to >= unnoted_up_to_; }

  // What a hit and its flush look at comes first.
  bool of_all_ = false;  // lock_all
  bool fence_ = false;
  bool fence_met_ = false;
  bool alone_ = false;  // in lock_all
  bool quiet_ = true;
  std::vector<Target> targets_;
  uint32_t ranks_;
  uint32_t under_way_ = 0;
  uint32_t being_issued_ = 0;  // writes, at all targets
  uint64_t numbers_ = 0;
  uint64_t passive_ = 1;  // epochs of lock_all, begun and ended
  uint32_t era_ = 0;
  uint32_t completed_without_number_ = 0;
  uint32_t unnoted_ = 0;          // how often calls went unnoted
  uint32_t all_known_since_ = 0;  // the last of these after which all targets were synchronised
  uint64_t unnoted_up_to_ = 0;    // number of the last
  bool unnoted_writes_ = false;   // there were writes among them, since all targets were known
  std::vector<uint32_t> touched_;
  std::vector<uint32_t> started_;
};

}  // namespace nearcache
