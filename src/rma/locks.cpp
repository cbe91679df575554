#include "rma/locks.h"

#include <algorithm>

namespace nearcache::rma {

bool Locks::ask(int origin, LockType type) {
  if (try_ask(origin, type)) return true;
  waiting_.push_back({origin, type});
  return false;
}

bool Locks::try_ask(int origin, LockType type) {
  if (!waiting_.empty() || !free_for(type)) return false;
  take(origin, type);
  return true;
}

void Locks::take(int origin, LockType type) {
  exclusive_ = type == LockType::exclusive;
  ++held_[origin];
}

bool Locks::release(int origin) {
  const auto found = held_.find(origin);
  if (found == held_.end()) return false;
  if (--found->second == 0) held_.erase(found);
  exclusive_ = false;
  return true;
}

std::optional<int> Locks::grant_next() {
  if (waiting_.empty() || !free_for(waiting_.front().type)) return {};
  const Waiting next = waiting_.front();
  waiting_.pop_front();
  take(next.origin, next.type);
  return next.origin;
}

bool Locks::waits(int origin) const {
  return !waiting_.empty() &&
         std::ranges::find(waiting_, origin, &Waiting::origin) != waiting_.end();
}

void Locks::forget(int origin) {
  while (release(origin)) {
  }
  std::erase_if(waiting_, [&](const Waiting& each) { return each.origin == origin; });
}

}  // namespace nearcache::rma
