// SPDX-License-Identifier: BSD-3-Clause
#include "rma/locks.h"

#include <algorithm>
#include <utility>

#include "rma/shared_words.h"

namespace nearcache::rma {

bool Locks::ask(int origin, LockType type, bool overtakes) {
  if (overtakes ? word_->try_take_in_turn(type) : waiting_.empty() && word_->try_take(type)) {
    hold(origin, type);
    return true;
  }
  auto place = waiting_.end();
  if (overtakes) {
    const auto in_turn = [](const Waiting& each) { return !each.overtakes; };
    place = std::ranges::find_if(waiting_, in_turn);
    // the first one leaves the queue, unless its turn has come
    if (!waiting_.empty() && place == waiting_.begin() && !queue_.leave(queue_.owner()))
      place = std::find_if(waiting_.begin() + 1, waiting_.end(), in_turn);
  }
  const bool is_first = place == waiting_.begin();
  waiting_.insert(place, {origin, type, overtakes});
  if (is_first) enter_first();
  return false;
}

void Locks::enter_first() {
  if (waiting_.empty()) return;
  queue_.enter(queue_.owner(), waiting_.front().type, waiting_.front().overtakes);
}

void Locks::hold(int origin, LockType type) {
  if (type == LockType::exclusive) exclusive_ = origin;
  ++held_[origin];
}

bool Locks::release(int origin) {
  const auto found = held_.find(origin);
  if (found == held_.end()) return false;
  if (--found->second == 0) held_.erase(found);
  word_->release(exclusive_ == origin ? LockType::exclusive : LockType::shared);
  if (exclusive_ == origin) exclusive_.reset();
  return true;
}

std::optional<int> Locks::grant_next() {
  if (waiting_.empty() || queue_.waits(queue_.owner())) return {};
  const Waiting next = waiting_.front();
  waiting_.erase(waiting_.begin());
  enter_first();
  hold(next.origin, next.type);
  return next.origin;
}

bool Locks::waits(int origin) const {
  return !waiting_.empty() &&
         std::ranges::find(waiting_, origin, &Waiting::origin) != waiting_.end();
}

std::vector<int> Locks::give_up() {
  std::vector<int> origins;
  if (waiting_.empty()) return origins;
  if (!queue_.leave(queue_.owner())) word_->release(waiting_.front().type);  // its turn had come
  for (const Waiting& each : std::exchange(waiting_, {})) origins.push_back(each.origin);
  return origins;
}

void Locks::forget(int origin) {
  while (release(origin)) {
  }
  if (waiting_.empty()) return;
  const Waiting first = waiting_.front();
  std::erase_if(waiting_, [&](const Waiting& each) { return each.origin == origin; });
  if (first.origin != origin) return;
  if (!queue_.leave(queue_.owner())) word_->release(first.type);  // its turn had come
  enter_first();
}

}  // namespace nearcache::rma
