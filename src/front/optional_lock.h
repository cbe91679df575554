// SPDX-License-Identifier: BSD-3-Clause

// A lock that is taken only if there may be other threads.
#pragma once

#include <mutex>

namespace nearcache {

class OptionalLock {
 public:
  // `mutex` is null if there are no other threads.
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
  // Gives up ownership without unlocking. Returns true if the mutex is locked.
  bool release() {
    const bool locked = mutex_ != nullptr;
    mutex_ = nullptr;
    return locked;
  }

 private:
  std::mutex* mutex_;
};

}  // namespace nearcache
