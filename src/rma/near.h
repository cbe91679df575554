// A target whose window memory this rank can address: itself, and the ranks of its node if the
// memory of all is in their arena.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/commons.h"

namespace nearcache::rma {

struct Near {
  enum class Open : uint8_t { no, active, passive };

  // Operations may be executed at once, as in an epoch of this kind, and nothing is to be said of
  // earlier ones. Whoever knows of epochs sets it (EngineWindow).
  std::atomic<Open> open{Open::no};
  bool locked = false;  // this rank holds the lock, by its word
  LockType type = LockType::shared;
  bool in_short = false;  // the lock is all that is known of an epoch (EngineWindow)
  int rank = 0;           // of the window
  int place = 0;          // on the node
  uint32_t started = 0;   // of its posts
  // No bytes: nothing can be said without the window's `Memory`.
  std::byte* base = nullptr;
  uint64_t size = 0;
  int64_t unit = 1;
  Commons* commons = nullptr;  // null until it has been found

  // The memory there; null if it is not all in the window.
  std::byte* at(int64_t displacement, uint64_t length) const {
    uint64_t from;
    if (__builtin_mul_overflow(static_cast<uint64_t>(displacement), static_cast<uint64_t>(unit),
                               &from) ||
        from > size || length > size - from)
      return nullptr;
    return base + from;
  }
  void lock_taken(LockType as) { locked = true, type = as; }
};

}  // namespace nearcache::rma
