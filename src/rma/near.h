// SPDX-License-Identifier: BSD-3-Clause

// A target on this rank's node that shares the words of the window: this rank itself, and the ranks
// that use the same arena.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/commons.h"

namespace nearcache::rma {

struct Near {
  enum class Open : uint8_t { no, active, passive };
  // How the target's memory is reached: by loads and stores, by kernel copies
  // (net/process_memory.h), or not at all, so that operations and locks are sent as messages.
  enum class Reach : uint8_t { messages, process, memory };

  // Set by code that knows about epochs (EngineWindow): operations may be executed at once, as in
  // an epoch of this kind, and there is no error of earlier ones to report.
  std::atomic<Open> open{Open::no};
  std::atomic<Reach> reach{Reach::messages};
  bool locked = false;              // this rank holds the lock, taken by its word
  bool frees = false;               // it is released once what was sent is executed
  std::atomic<bool> queued{false};  // this rank is in its queue, or its turn has come
  LockType type = LockType::shared;
  bool in_short = false;  // nothing else records this lock epoch (EngineWindow)
  int rank = 0;           // in the window
  int place = 0;          // on the node
  uint32_t started = 0;   // number of its posts used by a start
  pid_t process = 0;
  // For loads and stores. If `size` is 0, only the window's Memory knows what is there.
  std::byte* base = nullptr;
  uint64_t size = 0;
  uint64_t word_places = 0;  // offsets at which 8 bytes may begin
  int64_t unit = 1;
  // null until found, and for good if a member was lost before that
  Commons* commons = nullptr;
  std::atomic<Held>* holds = nullptr;  // in `commons`: tells others about `locked`

  // Returns the address of `length` bytes (not 0) of the memory; null if not all are in the window.
  std::byte* at(int64_t displacement, uint64_t length) const {
    int64_t from;
    if (__builtin_mul_overflow(displacement, unit, &from)) return nullptr;
    const auto begin = static_cast<uint64_t>(from);  // negative: beyond the end
    return begin <= size && length <= size - begin ? base + begin : nullptr;
  }
  // Like at(), for 8 bytes.
  [[gnu::always_inline]] bool has_word(int64_t displacement, std::byte** at) const {
    int64_t from;
    if (__builtin_mul_overflow(displacement, unit, &from) ||
        static_cast<uint64_t>(from) >= word_places)
      return false;
    *at = base + from;
    return true;
  }
  void reach_memory(std::byte* begin, uint64_t bytes) {
    base = begin, size = bytes;
    word_places = bytes < sizeof(uint64_t) ? 0 : bytes - sizeof(uint64_t) + 1;
    reach = Reach::memory;
  }
  bool reaches(Reach by) const { return reach.load(std::memory_order_relaxed) == by; }
  // Returns false if the lock is not free.
  [[gnu::always_inline]] bool take_lock(LockType as) {
    say_unsure();
    if (commons->lock.try_take(as)) return lock_taken(as), true;
    holds->store(Held::no, std::memory_order_relaxed);
    return false;
  }
  void lock_taken(LockType as) {
    locked = true, type = as;
    holds->store(as == LockType::shared ? Held::shared : Held::exclusive,
                 std::memory_order_relaxed);
  }
  // Returns true if somebody waits for the lock: Window::hand_over must follow.
  [[gnu::always_inline]] bool give_back_lock() {
    locked = false;
    say_unsure();
    const bool waited = commons->lock.release(type);
    holds->store(Held::no, std::memory_order_release);
    return waited;
  }

 private:
  // Called before the lock's word is changed. Only ranks that look after this process has ended
  // must see it, and they see everything the process did, so program order is enough.
  [[gnu::always_inline]] void say_unsure() {
    holds->store(Held::unsure, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

}  // namespace nearcache::rma
