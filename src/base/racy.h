// SPDX-License-Identifier: BSD-3-Clause

// Numbers that threads may race on: an update may be lost, but nothing worse happens. For counts
// and guesses that are not worth a locked instruction. Costs the same as a plain number.
#pragma once

#include <atomic>

namespace nearcache {

template <class T>
class Racy {
 public:
  constexpr Racy(T value = {}) : value_(value) {}
  Racy(const Racy& other) : value_(T{other}) {}
  T operator=(T value) { return value_.store(value, std::memory_order_relaxed), value; }
  Racy& operator=(const Racy& other) {
    *this = T{other};
    return *this;
  }
  operator T() const { return value_.load(std::memory_order_relaxed); }
  [[gnu::always_inline]] T operator--() { return *this = *this - 1; }
  void operator+=(T more) { *this = *this + more; }

 private:
  std::atomic<T> value_;
};

}  // namespace nearcache
