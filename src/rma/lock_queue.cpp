// SPDX-License-Identifier: BSD-3-Clause
#include "rma/lock_queue.h"

namespace nearcache::rma {
namespace {

// A ticket consists of its number (30 bits) and the type of the lock; none is 0.
constexpr uint32_t type_bits = 3, shared_in_turn = 1, exclusive = 2, shared_overtaking = 3;

uint32_t make_ticket(uint32_t number, LockType type, bool overtakes) {
  return number << 2 | (type == LockType::exclusive ? exclusive
                        : overtakes                 ? shared_overtaking
                                                    : shared_in_turn);
}

LockType type_of(uint32_t ticket) {
  return (ticket & type_bits) == exclusive ? LockType::exclusive : LockType::shared;
}

// Numbers wrap around; those that wait at the same time are close to each other.
bool before(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a & ~type_bits) - (b & ~type_bits)) < 0;
}

class Hold {
 public:
  Hold(Mutex* mutex, uint32_t process) : mutex_(mutex) { mutex->lock_or_take_over(process); }
  ~Hold() { mutex_->unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Mutex* mutex_;
};

// Seen by a rank that takes the mutex over from a dead process.
class Granting {
 public:
  explicit Granting(std::atomic<uint32_t>* word) : word_(word) {
    word_->store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Granting() { word_->store(0, std::memory_order_release); }
  Granting(const Granting&) = delete;
  Granting& operator=(const Granting&) = delete;

 private:
  std::atomic<uint32_t>* word_;
};

}  // namespace

void LockQueue::enter(size_t who, LockType type, bool overtakes) {
  const Hold held(&commons_->order, process_);
  const uint32_t number = commons_->tickets.load(std::memory_order_relaxed) + 1;
  commons_->tickets.store(number, std::memory_order_relaxed);
  ticket(who).store(make_ticket(number, type, overtakes), std::memory_order_relaxed);
  commons_->lock.set_queue(true);
}

bool LockQueue::leave(size_t who) {
  const Hold held(&commons_->order, process_);
  const uint32_t was = ticket(who).exchange(Commons::no_ticket, std::memory_order_relaxed);
  if (first() == nobody) commons_->lock.set_queue(false);
  return was != Commons::no_ticket;
}

// Returns the lowest ticket, or the lowest of those that overtake.
size_t LockQueue::first(bool overtaking) const {
  size_t found = nobody;
  uint32_t its = 0;
  for (size_t who = 0; who <= ranks_; ++who) {
    const uint32_t now = ticket(who).load(std::memory_order_relaxed);
    if (now == Commons::no_ticket || (found != nobody && !before(now, its)) ||
        (overtaking && (now & type_bits) != shared_overtaking))
      continue;
    found = who;
    its = now;
  }
  return found;
}

size_t LockQueue::grant_next() {
  const Hold held(&commons_->order, process_);
  if (commons_->granting.load(std::memory_order_relaxed) != 0) commons_->lock.lose();
  size_t who = first();
  if (who == nobody) return commons_->lock.set_queue(false), nobody;
  LockType type = type_of(ticket(who).load(std::memory_order_relaxed));
  const Granting granting(&commons_->granting);
  if (!commons_->lock.try_take_in_turn(type)) {
    who = first(true);
    type = LockType::shared;
    if (who == nobody || !commons_->lock.try_take_in_turn(type)) return nobody;
  }
  if (who != owner()) {
    commons_->of_ranks()[who].holds.store(type == LockType::shared ? Held::shared : Held::exclusive,
                                          std::memory_order_relaxed);
  }
  ticket(who).store(Commons::no_ticket, std::memory_order_release);
  if (first() == nobody) commons_->lock.set_queue(false);
  return who;
}

}  // namespace nearcache::rma
