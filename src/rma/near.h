// A target of this rank's node, with which it shares words of the window: itself, and whoever uses
// the same arena.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/commons.h"

namespace nearcache::rma {

struct Near {
  enum class Open : uint8_t { no, active, passive };
  // How its memory is reached: by loads and stores, by the kernel (net/process_memory.h), or not at
  // all: then operations and locks go by messages.
  enum class Reach : uint8_t { messages, process, memory };

  // Operations may be executed at once, as in an epoch of this kind, and nothing is to be said of
  // earlier ones. Whoever knows of epochs sets it (EngineWindow).
  std::atomic<Open> open{Open::no};
  std::atomic<Reach> reach{Reach::messages};
  bool locked = false;              // this rank holds the lock, by its word
  bool frees = false;               // it gives it back when what it has sent is executed
  std::atomic<bool> queued{false};  // it waits for it, or its turn has come
  LockType type = LockType::shared;
  bool in_short = false;  // the lock is all that is known of an epoch (EngineWindow)
  int rank = 0;           // of the window
  int place = 0;          // on the node
  uint32_t started = 0;   // of its posts
  // Reached by loads and stores. No bytes: nothing can be said without the window's `Memory`.
  std::byte* base = nullptr;
  uint64_t size = 0;
  uint64_t word_places = 0;  // where 8 bytes may begin
  int64_t unit = 1;
  pid_t process = 0;
  // null until it has been found, and for good where a member was lost before
  Commons* commons = nullptr;
  std::atomic<Held>* holds = nullptr;  // in it, what others must know of `locked`

  // So many bytes, not 0, of the memory there; null if they are not all in the window.
  std::byte* at(int64_t displacement, uint64_t length) const {
    int64_t from;
    if (__builtin_mul_overflow(displacement, unit, &from)) return nullptr;
    const auto begin = static_cast<uint64_t>(from);  // below 0: beyond the end
    return begin <= size && length <= size - begin ? base + begin : nullptr;
  }
  // The same of 8 bytes.
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
  // False if it is not free.
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
  // True if somebody waits for it: then Window::hand_over.
  [[gnu::always_inline]] bool give_back_lock() {
    locked = false;
    say_unsure();
    const bool waited = commons->lock.release(type);
    holds->store(Held::no, std::memory_order_release);
    return waited;
  }

 private:
  // Before the lock's word is changed. Only others that look after this process has ended must see
  // it, which see all that it had done: the order of its instructions is enough.
  void say_unsure() {
    holds->store(Held::unsure, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

}  // namespace nearcache::rma
