// A lock that is taken only if there may be other threads.
#pragma once

#include <mutex>

namespace nearcache {

class OptionalLock {
 public:
  // Null: there are no threads.
  explicit OptionalLock(std::mutex* mutex) : mutex_(mutex) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~OptionalLock() { unlock(); }
  OptionalLock(const OptionalLock&) = delete;
  OptionalLock& operator=(const OptionalLock&) = delete;

  void unlock() {
    if (mutex_ != nullptr) mutex_->unlock();
    mutex_ = nullptr;
  }
  // Leaves it locked: whether it is.
  bool release() {
    const bool locked = mutex_ != nullptr;
    mutex_ = nullptr;
    return locked;
  }

 private:
  std::mutex* mutex_;
};

}  // namespace nearcache
