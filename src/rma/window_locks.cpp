// SPDX-License-Identifier: BSD-3-Clause

// Locks of a window at its targets, by the word that near ranks share or by messages, and
// operations that wait for them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "rma/engine.h"
#include "rma/window.h"

namespace nearcache::rma {

// Locks taken by their word

// Whether an operation may be executed here: the memory can be reached, no message to the target is
// in flight, and this rank has the lock that it wants, or gets it at once. If it does not get the
// lock, it enters the lock's queue, if `may_wait`.
bool Window::usable(Near* near, Target* to, bool may_wait) {
  if (near->reaches(Near::Reach::messages)) return false;
  if (to != nullptr && !to->quiet()) return false;
  const bool wanted = to != nullptr && to->lock == Lock::wanted;
  if (!wanted && (near->locked || !all_locked_ || (to != nullptr && to->lock == Lock::held)))
    return true;
  const LockType type = wanted ? to->type : LockType::shared;
  if (near->queued) return false;
  const bool taken = near->take_lock(type);
  if (!taken && !may_wait) return false;
  if (to != nullptr) to->lock = Lock::none;
  if (taken) return true;
  queue_up(near, type);
  return false;
}

bool Window::ready(int rank) {
  Near* const near = this->near(rank);
  Target* const to = known(rank);
  return near != nullptr && usable(near, to, false) && (to == nullptr || to->error == Status::ok);
}

LockQueue Window::queue_of(Commons* commons) const {
  return LockQueue(commons, node_ != nullptr ? node_->size() : 1, engine_->process());
}

void Window::tell_turn(size_t place) {
  for (Near& near : nears()) {
    if (near.place == static_cast<int>(place) && near.commons != nullptr) near.commons->bell.ring();
  }
}

bool Window::hand_over(const Near& near) {
  bool far = false;
  LockQueue queue = queue_of(near.commons);
  queue.grant([&](size_t who) {
    if (who == queue.owner()) {
      far = true;
    } else {
      tell_turn(who);
    }
  });
  if (!near.commons->lock.is_lost()) return far;
  for (const Near& each : nears()) tell_turn(static_cast<size_t>(each.place));
  return true;
}

void Window::tell_freed(const Near& near) {
  if (near.rank == rank_) {
    exposure_.grant();
  } else {
    engine_->outbox().append(members_.peer(near.rank), head(Kind::lock_freed));
  }
}

// Locks of any target

void Window::take_lock(Target* to) {
  const Near* const near = this->near(to->rank);
  const bool has = near != nullptr && near->locked;
  if (all_locked_ && to->lock == Lock::none && !has)
    to->lock = Lock::wanted, to->type = LockType::shared;
  if (to->lock != Lock::wanted) return;
  to->lock = Lock::held;
  ++far_locks_;
  to->refused = false;
  Traffic& traffic = this->traffic(to);
  // The request has a number, so that the target is not quiet() before it is answered for.
  traffic.locked_at = traffic.issued++;
  Head message = head(to->type == LockType::exclusive ? Kind::lock_exclusive : Kind::lock_shared);
  message.token = overtakes(to->rank, to->type) ? 1 : 0;
  engine_->outbox().append(members_.peer(to->rank), message);
}

void Window::lock(int rank, LockType type, bool no_check) {
  if (no_check) return;
  target(rank).lock = Lock::wanted;
  target(rank).type = type;
}

Mark Window::lock_now(int rank) {
  if (Near* const near = this->near(rank); near != nullptr) {
    if (usable(near, known(rank), true)) return 0;
    if (near->queued) return defer(near, false);
  }
  Target& to = target(rank);
  if (engine_->is_lost(members_.peer(rank))) return to.error = Status::lost_peer, 0;
  take_lock(&to);
  if (to.lock != Lock::held) return 0;
  Traffic& traffic = this->traffic(&to);
  ask(rank, &traffic, Kind::acknowledge);
  return traffic.issued;
}

bool Window::lock_is_awaited(int rank) const {
  const Target* const to = known(rank);
  return to != nullptr && to->awaited;
}

bool Window::lock_is_due(int rank) {
  const Target* const to = known(rank);
  if (to == nullptr || to->awaited) return false;
  const bool asked = to->lock == Lock::held && to->traffic != nullptr &&
                     to->traffic->reached <= to->traffic->locked_at;
  return to->lock == Lock::wanted || asked || queued(rank);
}

Mark Window::unlock(int rank) {
  if (Near* const near = this->near(rank); near != nullptr) {
    if (near->queued) return defer(near, true);
    if (near->locked) give_back_lock(near);
  }
  Target* const to = known(rank);
  if (to == nullptr) return 0;
  to->has_asked = false;
  if (std::exchange(to->lock, Lock::none) != Lock::held) return flush(rank);
  --far_locks_;
  if (engine_->is_lost(members_.peer(rank))) return 0;
  Traffic& traffic = this->traffic(to);
  ask(rank, &traffic, Kind::unlock);
  return traffic.issued;
}

void Window::unlock_all() {
  all_locked_ = false;
  for (Near& near : nears()) {
    if (near.locked) give_back_lock(&near);
    if (near.queued) defer(&near, true);
  }
  targets_.each([&](const Target& to) {
    if (!queued(to.rank)) unlock(to.rank);
  });
}

// Releases a lock that was taken by its word: at once, unless something issued under it was sent as
// messages because the memory could no longer be reached.
void Window::give_back_lock(Near* near) {
  const Target* const to = known(near->rank);
  near->frees = to != nullptr && !to->quiet();
  if (!near->frees) free_lock(near);
}

void Window::free_lock(Near* near) {
  near->frees = false;
  if (near->give_back_lock() && hand_over(*near)) tell_freed(*near);
}

// Waiting in a lock's queue

// Whether the lock of a target does not wait for those who wait: a shared one, if this rank has
// another lock of this window, or has asked for it.
bool Window::overtakes(int rank, LockType type) const {
  if (type == LockType::exclusive) return false;
  const auto uses = [&](const Near& near) {
    return near.rank != rank && (near.locked || near.queued);
  };
  const Target* const to = known(rank);
  const uint32_t far = far_locks_ - (to != nullptr && to->lock == Lock::held ? 1 : 0);
  return far > 0 || std::any_of(nears_, nears_ + near_count_, uses);
}

void Window::queue_up(Near* near, LockType type) {
  near->type = type;
  near->queued = true;
  queue_of(near->commons).enter(own_place(), type, overtakes(near->rank, type));
  // The rank whose turn is next must not wait until this rank's program calls again.
  if (hand_over(*near)) {
    tell_freed(*near);
    engine_->push();
  }
  engine_->expect_turns(this);
}

bool Window::queued(int rank) {
  const Near* const near = this->near(rank);
  return near != nullptr && near->queued;
}

bool Window::has_turn(int rank) {
  const Near* const near = this->near(rank);
  return !near->queued || !queue_of(near->commons).waits(own_place()) ||
         near->commons->lock.is_lost();
}

void Window::defer(Transfer* transfer, Near* near) {
  Deferred& kept = rare().deferred.emplace_back();
  kept.rank = near->rank;
  kept.transfer = *transfer;
  if (transfer->layout.size > 0) {
    transfer->layout.each_run(
        transfer->length, [&](const Piece& piece) { return kept.pieces.push_back(piece), true; });
  } else {
    kept.pieces.assign(transfer->pieces.begin(), transfer->pieces.end());
  }
  kept.transfer.layout = {};
  Head like{.kind = transfer->kind, .operation = transfer->operation};
  like.length = transfer->length;
  if (const uint64_t bytes = data_bytes(like); bytes > 0)
    kept.data.assign(transfer->data, transfer->data + bytes);
  Traffic& traffic = this->traffic(&target(near->rank));
  kept.mark = ++traffic.issued;
  traffic.answered = traffic.issued;  // no reply need be requested
  traffic.bytes += transfer->length + kept.pieces.size() * sizeof(Piece) + sizeof kept;
  traffic.bytes_asked = traffic.bytes;
  if (transfer->kind != Kind::put && transfer->kind != Kind::accumulate)
    traffic.fetching = traffic.issued;
  transfer->done = transfer->length;
}

Mark Window::defer(Near* near, bool unlock) {
  Traffic& traffic = this->traffic(&target(near->rank));
  Deferred& kept = rare().deferred.emplace_back();
  kept.rank = near->rank;
  kept.unlock = unlock;
  kept.mark = traffic.answered = ++traffic.issued;
  return kept.mark;
}

std::vector<Window::Deferred> Window::take_deferred(int rank) {
  std::vector<Deferred>& deferred = rare().deferred;
  const auto taken = std::ranges::stable_partition(
      deferred, [&](const Deferred& each) { return each.rank != rank; });
  std::vector<Deferred> all(std::make_move_iterator(taken.begin()),
                            std::make_move_iterator(taken.end()));
  deferred.erase(taken.begin(), taken.end());
  if (deferred.empty()) deferred.shrink_to_fit();
  return all;
}

bool Window::take_turns() {
  bool any = false, more = false;
  for (Near& near : nears()) {
    if (!near.queued) continue;
    if (!has_turn(near.rank)) {
      more = true;
      continue;
    }
    any = true;
    const bool lost = near.commons->lock.is_lost() && queue_of(near.commons).leave(own_place());
    if (!lost) near.lock_taken(near.type);
    near.queued = false;
    if (lost) {
      refuse_deferred(&near);
    } else {
      do_deferred(&near);
    }
  }
  if (more) engine_->expect_turns(this);
  return any;
}

// If the memory can no longer be reached, the rest is sent as messages.
void Window::do_deferred(Near* near) {
  std::vector<Deferred> all = take_deferred(near->rank);
  Target& to = target(near->rank);
  const int peer = members_.peer(near->rank);
  const uint64_t deferred = traffic(&to).issued;
  traffic(&to).reached = deferred;  // replies are due to what is sent from now on
  bool sent = false;
  for (Deferred& each : all) {
    if (each.unlock) {
      near->frees = sent;
      if (!sent) free_lock(near);
    } else if (each.transfer.kind == Kind::acknowledge) {
      continue;
    } else if (engine_->is_lost(peer)) {
      end_deferred(each, Status::lost_peer);
    } else {
      each.transfer.pieces = each.pieces;
      each.transfer.data = each.data.data();
      each.transfer.done = 0;
      sent = sent || near->reaches(Near::Reach::messages) ||
             faster_by_message(each.transfer, *near) || !execute_near(&each.transfer, near);
      while (each.transfer.done < each.transfer.length) issue_part(&each.transfer, &to);
    }
  }
  if (sent) {
    Traffic& traffic = this->traffic(&to);
    ask(near->rank, &traffic, Kind::acknowledge);
    traffic.deferred = deferred, traffic.deferred_end = traffic.issued;
    return;
  }
  all_is_reached(&to);
}

// The lock is lost. Until the program unlocks, further operations are refused in the same way.
void Window::refuse_deferred(Near* near) {
  bool unlocked = false;
  for (const Deferred& each : take_deferred(near->rank)) {
    unlocked = unlocked || each.unlock;
    end_deferred(each, Status::lost_lock);
  }
  Target& to = target(near->rank);
  if (!unlocked && !all_locked_) to.lock = Lock::wanted, to.type = near->type;
  if (to.error == Status::ok) to.error = Status::lost_lock;
  all_is_reached(&to);
}

void Window::end_deferred(const Deferred& deferred, Status status) {
  const Completion& completion = deferred.transfer.completion;
  if (completion.call != nullptr) completion.call(completion.context, status);
}

}  // namespace nearcache::rma
